/** Checks of the file store, mail, keys and Content Credentials. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { S3BucketOptions } from '../../files/s3-bucket.ts'
import type { OwnedStore } from '../../files/store-owner.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { counted } from '../terminal.ts'
import { loadContentCredentials } from '../with-infrastructure.ts'
import { isLoopback } from './configuration-checks.ts'
import {
  type Diagnosis,
  failure,
  formatDuration,
  info,
  messageOf,
  ok,
  type Parts,
  SkippedError,
  warning,
} from './diagnosis.ts'

/**
 * Reports a file store of another installation. Returns undefined if the store is the right one, or if the database
 * does not respond.
 */
async function diagnoseOwner(parts: Parts, store: OwnedStore): Promise<Diagnosis | undefined> {
  const database = await parts.database().catch(() => undefined)
  if (!database) return undefined
  const { findSetting, keyValueKeys } = await import('../../db/key-value-store.ts')
  const { findSampleFiles } = await import('../../modules/assets/pinned-files.ts')
  const { findOwnerProblem } = await import('../../files/store-owner.ts')
  const [vault] = await database.query(findSetting, { key: keyValueKeys.vault })
  if (!vault) return undefined
  const findFiles = async () => (await database.query(findSampleFiles)).map(({ nid }) => nid)
  const problem = await findOwnerProblem(store, vault.value, findFiles)
  return problem && failure(problem.finding, problem.fix)
}

/** Checks that files can be read and written. */
export async function checkFiles(parts: Parts): Promise<Diagnosis[]> {
  const { files, dir } = await parts.config()
  if (files.s3) return checkBucket(parts, files.s3)
  if (files.kuboUrl) return checkKubo(files.kuboUrl)
  const folder = join(dir, 'blocks')
  const { ownedBlocks } = await import('../../files/store-owner.ts')
  const foreign = await diagnoseOwner(parts, ownedBlocks(folder))
  if (foreign) return [foreign]
  if (!existsSync(folder)) throw new SkippedError(`No server was ever started in ${dir}.`)
  const { createContentStore } = await import('../../files/content-store.ts')
  if (await createContentStore({ dir: folder }).isReachable()) return [ok(`${folder} is writable.`)]
  return [failure(`Cannot write files in ${folder}.`, 'Check its owner and permissions, and the disk.')]
}

/** Checks that Kubo responds, syncs blocks to disk, and does not serve private files. */
async function checkKubo(url: string): Promise<Diagnosis[]> {
  const { countServed, createKuboContentStore, keepsUnsynced } = await import('../../files/kubo-store.ts')
  // The URL may contain a password, so only the host is shown.
  const { host } = new URL(url)
  if (!(await createKuboContentStore({ url }).isReachable())) {
    const fix = 'Start Kubo, or set IPFS_API_URL to the address of its RPC API (port 5001), not of its gateway.'
    return [failure(`Kubo does not answer at ${host} (IPFS_API_URL).`, fix)]
  }
  const diagnoses = [ok('Kubo answers at IPFS_API_URL.')]
  const served = await countServed(url)
  if (served > 0) {
    diagnoses.push(
      failure(
        `Kubo at ${host} serves private files to ${served} connected nodes: anyone who knows a CID gets the blocks, and the chain publishes all CIDs.`,
        'Set "Bitswap.ServerEnabled" and "Provide.Enabled" to false in its configuration, and restart it. See docs/how-to/store-files-on-kubo-or-s3.md.',
      ),
    )
  }
  if (await keepsUnsynced(url)) {
    diagnoses.push(
      warning(
        `Kubo at ${host} acknowledges blocks before they are on its disk: a power failure loses registered files.`,
        'Set "sync" to true for flatfs in Datastore.Spec of its configuration, and restart it.',
      ),
    )
  }
  return diagnoses
}

/** Writes, reads and deletes an object in the bucket. */
async function checkBucket(parts: Parts, options: S3BucketOptions): Promise<Diagnosis[]> {
  const { createS3Bucket, tryBucket } = await import('../../files/s3-bucket.ts')
  const { ownedBucket } = await import('../../files/store-owner.ts')
  const bucket = createS3Bucket(options)
  try {
    await tryBucket(bucket)
  } catch (error) {
    const { cause } = error as Error
    const fix =
      'Check S3_BUCKET, AWS_REGION, S3_ENDPOINT and the credentials, which must allow to list the bucket and to read, write and delete objects below S3_PREFIX.'
    const finding = `Cannot store files in the bucket ${options.bucket}: ${messageOf(cause instanceof Error ? cause : error)}`
    return [failure(finding, fix)]
  }
  const foreign = await diagnoseOwner(parts, ownedBucket(bucket))
  if (foreign) return [foreign]
  const diagnoses = [ok(`Files can be written, read and deleted in the bucket ${options.bucket}.`)]
  if (await bucket.keepsVersions()) {
    const finding = `The bucket ${options.bucket} has versioning: deleted files stay there and cost money.`
    const fix = 'Add a lifecycle rule that deletes noncurrent versions after some days.'
    diagnoses.push(warning(finding, fix))
  }
  return diagnoses
}

/** Reports an unencrypted connection to the mail server. Returns undefined if it is encrypted. */
function diagnoseEncryption(
  smtpUrl: string,
  isEncrypted: boolean | undefined,
  production: boolean,
): Diagnosis | undefined {
  const { protocol, host, hostname, searchParams } = new URL(smtpUrl)
  if (protocol === 'smtps:' || searchParams.get('requireTLS') === 'true') return undefined
  const diagnose = production ? warning : info
  const fix =
    'Set SMTP_URL to smtps://user:password@host:465, or to smtp://user:password@host:587?requireTLS=true. The mail server must offer TLS.'
  if (isLoopback(hostname)) {
    if (isEncrypted !== false) return undefined
    return info(`The mail server at ${host} does not offer STARTTLS. Mails are unencrypted, but stay on this machine.`)
  }
  if (isEncrypted === false) {
    const finding = `The mail server at ${host} does not offer STARTTLS: mails with links, and the password of SMTP_URL, are sent unencrypted.`
    return diagnose(finding, fix)
  }
  const finding = `SMTP_URL does not require TLS: an attacker on the network can keep mails to ${host}, and the password, unencrypted.`
  return diagnose(finding, fix)
}

/** Checks that the mail server accepts mails from the sender over an encrypted connection. */
export async function checkMail({ config }: Parts): Promise<Diagnosis[]> {
  const { mail, dir, production } = await config()
  if (!mail.smtpUrl)
    return [info(`Mails are written to files in ${join(dir, 'mail')}.`, 'Set SMTP_URL and MAIL_FROM to send them.')]
  const { checkMailServer } = await import('../../mail/mail-server.ts')
  const { failure: problem, isEncrypted } = await checkMailServer(mail.smtpUrl, mail.from)
  const diagnoses = [problem ? failure(problem.finding, problem.fix) : ok('The mail server accepts mail.')]
  const encryption = URL.canParse(mail.smtpUrl) && diagnoseEncryption(mail.smtpUrl, isEncrypted, production)
  if (encryption) diagnoses.push(encryption)
  if (/@localhost\b/.test(mail.from)) {
    const finding = `Mails are from ${mail.from}, which other mail servers reject.`
    diagnoses.push(warning(finding, 'Set MAIL_FROM to an address of yours, such as Annal <no-reply@example.org>.'))
  } else if (!problem) diagnoses.push(ok(`Mails are from ${mail.from}.`))
  return diagnoses
}

/** Checks that the keys belong to this database, and which of them are in use. */
export async function checkKeys(parts: Parts): Promise<Diagnosis[]> {
  const { dir, keys: configured } = await parts.config()
  const database = await parts.database()
  const { assertKeySharesHeld, assertKeysHeld, assertVaultBelongs, isVaultKnown } = await import(
    '../../keys/vault-identity.ts'
  )
  if (!(await isVaultKnown(database))) return [info('There are no keys yet. The first start of a server creates them.')]
  const { createLocalKeyVault } = await import('../../keys/key-vault.ts')
  const vault = createLocalKeyVault({ ...configured, dir })
  try {
    await assertVaultBelongs({ database, dir, mayRemember: false })
    await assertKeysHeld(database, vault.ring, dir)
    await assertKeySharesHeld(database, dir)
  } catch (error) {
    return [
      failure(
        messageOf(error),
        'Restore the newest backup of ANNAL_DIR/keys as described in docs/how-to/back-up-and-restore.md.',
      ),
    ]
  }
  const { createCustody } = await import('../../keys/custody.ts')
  const { createEnvelopeCipher } = await import('../../keys/envelope-cipher.ts')
  const { keyPairs } = await import('../../chain/transaction.ts')
  const { createKeyRotation } = await import('../../keys/key-rotation.ts')
  const custody = createCustody({ vault, keyPairs })
  const envelopeCipher = createEnvelopeCipher({ vault })
  const { keys, lost } = await createKeyRotation({
    ...{ database, custody, envelopeCipher, keyRing: vault.ring },
  }).status()
  const diagnoses: Diagnosis[] = []
  const [current, ...previous] = keys
  if (lost > 0) {
    const fix = 'Set KEY_ENCRYPTION_KEY_PREVIOUS to the previous key. `annal keys status` shows more.'
    const finding = `${counted(lost, 'row uses', 'rows use')} a key that the vault does not have, so they are unreadable.`
    diagnoses.push(failure(finding, fix))
  }
  const left = previous.reduce((sum, { total }) => sum + total, 0)
  if (left > 0) {
    const finding = `${counted(left, 'row still uses', 'rows still use')} a previous key.`
    diagnoses.push(warning(finding, 'Continue the rotation: `annal keys rotate`.'))
  } else if (previous.length > 0) {
    const fix = configured.key ? 'Remove KEY_ENCRYPTION_KEY_PREVIOUS.' : 'Run `annal keys destroy-previous`.'
    diagnoses.push(info(`${counted(previous.length, 'previous key wraps', 'previous keys wrap')} nothing.`, fix))
  }
  if (diagnoses.some(({ state }) => state === 'error')) return diagnoses
  const source = configured.key ? 'KEY_ENCRYPTION_KEY' : 'ANNAL_DIR/keys'
  return [ok(`The key ${current!.id} from ${source} is in use and wraps ${current!.total} rows.`), ...diagnoses]
}

const SOON_MS = 30 * 86_400_000

/** Checks that key and certificates match, and the validity period of the certificates. */
export async function checkContentCredentials({ config }: Parts): Promise<Diagnosis[]> {
  const { contentCredentials, dir, production } = await config()
  const { findSigningIdentity } = await loadContentCredentials()
  let identity: ReturnType<typeof findSigningIdentity>
  try {
    identity = findSigningIdentity(contentCredentials, dir)
  } catch (error) {
    if (error instanceof FixableError) throw error
    return [failure(messageOf(error), 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY to a matching pair.')]
  }
  if (contentCredentials.certificates === undefined) {
    const fix = 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY. docs/how-to/sign-content-credentials.md describes them.'
    if (!contentCredentials.mayBeDevelopment)
      return [info('Files with Content Credentials are not available: there is no certificate.', fix)]
    const finding = 'Content Credentials are signed with a development certificate, which nobody trusts.'
    return [production ? warning(finding, fix) : info(finding, fix)]
  }
  const { subject, certificates } = identity!
  const fix = 'Get a new certificate, set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY, and restart the servers.'
  return certificates.map(({ validFrom, validTo }, index) => {
    const name =
      index === 0 ? `The certificate for Content Credentials (${subject})` : `Certificate ${index + 1} of its chain`
    const left = new Date(validTo).getTime() - Date.now()
    if (new Date(validFrom).getTime() > Date.now()) return failure(`${name} is not valid yet.`, fix)
    if (left <= 0) return failure(`${name} expired ${formatDuration(left)} ago: files are not signed.`, fix)
    if (left < SOON_MS) return warning(`${name} expires in ${formatDuration(left)}.`, fix)
    return ok(`${name} is valid for another ${formatDuration(left)}.`)
  })
}
