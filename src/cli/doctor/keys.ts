/** Checks of the key vault. */
import { type Diagnosis, right, toKnow, warning, wrong } from './diagnosis.ts'
import type { Parts } from './parts.ts'

/** Whether the keys are those of this database, and which of them are in use. */
export async function checkKeys(parts: Parts): Promise<Diagnosis[]> {
  const { dir, keys } = await parts.config()
  const { database } = await parts.database()
  const { assertKeySharesHeld, assertKeysHeld, assertVaultBelongs, isVaultKnown } = await import(
    '../../keys/vault-identity.ts'
  )
  if (!(await isVaultKnown(database)))
    return [toKnow('Nothing is sealed yet: the first start of a server makes the keys.')]
  const restore = 'Restore the newest backup of ANNAL_DIR/keys; docs/operations.md tells how.'
  try {
    await assertVaultBelongs({ database, dir, mayRemember: false })
  } catch (error) {
    return [wrong((error as Error).message, restore)]
  }
  const { createLocalKeyVault } = await import('../../keys/key-vault.ts')
  const vault = createLocalKeyVault({ ...keys, dir })
  try {
    await assertKeysHeld(database, vault.ring, dir)
    await assertKeySharesHeld(database, dir)
  } catch (error) {
    return [wrong((error as Error).message, restore)]
  }
  const { createCustody } = await import('../../keys/custody.ts')
  const { createEnvelopeCipher } = await import('../../keys/envelope-cipher.ts')
  const { keyPairs } = await import('../../chain/key-pairs.ts')
  const { createKeyRotation } = await import('../../keys/key-rotation.ts')
  const custody = createCustody({ vault, keyPairs })
  const envelopeCipher = createEnvelopeCipher({ vault })
  const rotation = createKeyRotation({ database, custody, envelopeCipher, keyRing: vault.ring })
  return diagnose(await rotation.status(), keys.key !== undefined)
}

type Status = Awaited<ReturnType<ReturnType<typeof import('../../keys/key-rotation.ts').createKeyRotation>['status']>>

function diagnose({ keys, oldVersions, lost }: Status, isVariable: boolean): Diagnosis[] {
  const diagnoses: Diagnosis[] = []
  const [current, ...earlier] = keys
  if (lost > 0) {
    const finding = `${lost} rows are wrapped by a key that the vault does not hold: they do not open.`
    diagnoses.push(
      wrong(finding, 'Name the earlier key in KEY_ENCRYPTION_KEY_PREVIOUS; `annal keys status` shows more.'),
    )
  }
  if (oldVersions > 0) {
    diagnoses.push(
      warning(`${oldVersions} custodial keys have no key share yet.`, '`annal keys rotate` gives them one.'),
    )
  }
  const left = earlier.reduce((sum, { total }) => sum + total, 0)
  if (left > 0) {
    diagnoses.push(
      warning(`${left} rows are still under an earlier key.`, 'Go on with the rotation: `annal keys rotate`.'),
    )
  } else if (earlier.length > 0) {
    const fix = isVariable ? 'Take KEY_ENCRYPTION_KEY_PREVIOUS away once all is well.' : '`annal keys destroy-earlier`'
    diagnoses.push(toKnow(`${earlier.length} earlier keys wrap nothing any more.`, fix))
  }
  if (diagnoses.some(({ state }) => state === 'wrong')) return diagnoses
  const from = isVariable ? 'KEY_ENCRYPTION_KEY' : 'ANNAL_DIR/keys'
  return [right(`The key ${current!.id}, of ${from}, is in use and wraps ${current!.total} rows.`), ...diagnoses]
}
