/** The local key vault: keys in files or from the environment, and a key share for every owner. */
import { createHmac, hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { LostKeyError, unavailable } from '../shared/errors.ts'
import { seal, unseal } from './aes-gcm.ts'
import { openKeyRing, type RingKey, readOrCreate } from './key-ring.ts'
import { createKeyShares } from './key-shares.ts'
import type { KeyRing, KeyVault } from './key-types.ts'
import { readVaultId } from './vault-id.ts'

interface Options {
  /** The installation's folder; the vault lies in `keys` there. */
  dir: string
  /** 64 hex digits. Undefined: a file, made at first start. */
  key: string | undefined
  /** Earlier keys, newest first. */
  previousKeys?: readonly string[]
  /** Identity of the vault. Without it, nothing notices when the folder is unmounted or exchanged later. */
  id?: string | undefined
}

/** The two halves of HKDF-SHA256: what is made once, and what is made of it for each purpose. */
const extract = (key: Uint8Array) => createHmac('sha256', 'annal').update(key).digest()
const expand = (root: Uint8Array, purpose: string) =>
  createHmac('sha256', root).update(purpose).update(Buffer.of(1)).digest()

/** The vault, with the keys that an operator rotates. */
export type LocalKeyVault = KeyVault & { ring: KeyRing }

/** Opens the vault below `dir`, and makes what it lacks at a first start. Raises an Error when a file is damaged. */
export function createLocalKeyVault({ dir, key, previousKeys = [], id }: Options): LocalKeyVault {
  const keysDir = join(dir, 'keys')
  const assertOwn = () => {
    if (id !== undefined && readVaultId(dir) !== id)
      throw unavailable('The key vault', new Error(`The folder ${keysDir} is not the one of this installation.`))
  }
  const ring = openKeyRing({ dir: keysDir, key, previousKeys, assertOwn })
  const keyShares = createKeyShares({
    dir: join(keysDir, 'counterparts'),
    deletedDir: join(keysDir, 'deleted'),
    assertOwn,
  })
  // Made of the first key once and kept: links and retries outlive a rotation, and it tells nothing about that key.
  const root = Buffer.from(
    readOrCreate(join(keysDir, 'derivation-key'), () => extract(ring.oldest().key).toString('hex')),
    'hex',
  )
  if (root.length !== 32) throw new Error('The derivation key is damaged: expected 64 hex digits.')

  const wrappingKey = ({ id, key }: RingKey, owner: string, keyShare: Uint8Array) =>
    new Uint8Array(hkdfSync('sha256', key, keyShare, `annal\nwrap-for\n${id}\n${owner}`, 32))

  return {
    ring,
    async wrap(dataKey, context) {
      const { id, key } = ring.current()
      return { keyId: id, wrapped: seal(key, dataKey, `${id}\n${context}`) }
    },
    async unwrap(keyId, wrapped, context) {
      return unseal(ring.find(keyId).key, wrapped, `${keyId}\n${context}`)
    },
    async wrapFor(owner, dataKey, context) {
      const keyShare = await keyShares.findOrMake(owner)
      const current = ring.current()
      const wrapped = seal(wrappingKey(current, owner, keyShare), dataKey, `${current.id}\n${context}`)
      return { keyId: current.id, wrapped }
    },
    async unwrapFor(owner, keyId, wrapped, context) {
      const keyShare = await keyShares.find(owner)
      if (!keyShare) {
        throw new LostKeyError(`The key vault holds no key share for ${owner}.`, {
          isForGood: await keyShares.isDeleted(owner),
        })
      }
      return unseal(wrappingKey(ring.find(keyId), owner, keyShare), wrapped, `${keyId}\n${context}`)
    },
    forget: keyShares.forget,
    markDeleted: keyShares.markDeleted,
    owners: keyShares.owners,
    deletedOwners: keyShares.deleted,
    derive: (purpose) => expand(root, purpose),
  }
}
