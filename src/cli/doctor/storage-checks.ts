/** Checks of the file store, mail, keys and Content Credentials. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keyPairs } from '../../chain/transaction.ts'
import { findSetting, keyValueKeys } from '../../db/key-value-store.ts'
import { createContentStore } from '../../files/content-store.ts'
import { countServed, createKuboContentStore, keepsUnsynced } from '../../files/kubo-store.ts'
import { createS3Bucket, type S3BucketOptions, tryBucket } from '../../files/s3-bucket.ts'
import { findOwnerProblem, type OwnedStore, ownedBlocks, ownedBucket } from '../../files/store-owner.ts'
import { createCustody, createEnvelopeCipher } from '../../keys/envelope-encryption.ts'
import { createKeyRotation } from '../../keys/key-rotation.ts'
import { createLocalKeyVault } from '../../keys/key-vault.ts'
import { assertKeySharesHeld, assertKeysHeld, assertVaultBelongs, isVaultKnown } from '../../keys/vault-identity.ts'
import { checkMailServer } from '../../mail/mail-server.ts'
import { findSampleFiles } from '../../modules/assets/pinned-files.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { counted } from '../terminal.ts'
import { loadContentCredentials } from '../with-infrastructure.ts'
import { isLoopback } from './configuration-checks.ts'
import {
  type Checks,
  type Diagnoses,
  failure,
  formatDuration,
  info,
  messageOf,
  ok,
  type Parts,
  SkippedError,
  warning,
} from './diagnosis.ts'

/** Throws a FixableError for a file store of another installation. Returns if the store is the right one, or if the database does not respond. */
async function assertOwnStore(parts: Parts, store: OwnedStore): Promise<void> {
  const database = await parts.database().catch(() => undefined)
  const [vault] = (await database?.query(findSetting, { key: keyValueKeys.vault })) ?? []
  if (!database || !vault) return
  const findFiles = async () => (await database.query(findSampleFiles)).map(({ nid }) => nid)
  const problem = await findOwnerProblem(store, vault.value, findFiles)
  if (problem) throw problem
}

/** Checks that Kubo responds, syncs blocks to disk, and does not serve private files. */
async function* checkKubo(url: string): Diagnoses {
  // The URL may contain a password, so only the host is shown.
  const { host } = new URL(url)
  if (!(await createKuboContentStore({ url }).isReachable())) {
    const fix = 'Start Kubo, or set IPFS_API_URL to the address of its RPC API (port 5001), not of its gateway.'
    return failure(`Kubo does not answer at ${host} (IPFS_API_URL).`, fix)
  }
  yield ok('Kubo answers at IPFS_API_URL.')
  const served = await countServed(url)
  const see = 'See docs/how-to/store-files-on-kubo-or-s3.md.'
  const leak = `Kubo at ${host} serves private files to ${served} connected nodes: the chain publishes all CIDs.`
  if (served > 0)
    yield failure(leak, `Set "Bitswap.ServerEnabled" and "Provide.Enabled" to false, and restart it. ${see}`)
  const unsynced = `Kubo at ${host} acknowledges blocks before they are on its disk: a power failure loses files.`
  if (await keepsUnsynced(url)) yield warning(unsynced, `Set "sync" to true in Datastore.Spec, and restart it. ${see}`)
}

async function* checkBucket(parts: Parts, options: S3BucketOptions): Diagnoses {
  const bucket = createS3Bucket(options)
  try {
    await tryBucket(bucket)
  } catch (error) {
    const { cause } = error as Error
    const fix = 'Check S3_BUCKET, AWS_REGION, S3_ENDPOINT and the permissions of the credentials below S3_PREFIX.'
    const reason = messageOf(cause instanceof Error ? cause : error)
    return failure(`Cannot store files in the bucket ${options.bucket}: ${reason}`, fix)
  }
  await assertOwnStore(parts, ownedBucket(bucket))
  yield ok(`Files can be written, read and deleted in the bucket ${options.bucket}.`)
  const finding = `The bucket ${options.bucket} has versioning: deleted files stay there and cost money.`
  if (await bucket.keepsVersions()) yield warning(finding, 'Add a lifecycle rule that deletes noncurrent versions.')
}

/** Reports an unencrypted connection to the mail server. Returns undefined if it is encrypted. */
function diagnoseEncryption(smtpUrl: string, isEncrypted: boolean | undefined, isProduction: boolean) {
  const { protocol, host, hostname, searchParams } = new URL(smtpUrl)
  if (protocol === 'smtps:' || searchParams.get('requireTLS') === 'true') return undefined
  if (isLoopback(hostname) && isEncrypted !== false) return undefined
  if (isLoopback(hostname))
    return info(`The mail server at ${host} does not offer STARTTLS. Mails are unencrypted, but stay on this machine.`)
  const fix = 'Set SMTP_URL to smtps://user:password@host:465, or to smtp://user:password@host:587?requireTLS=true.'
  const finding =
    isEncrypted === false
      ? `The mail server at ${host} does not offer STARTTLS: mails with links, and the password, are sent unencrypted.`
      : `SMTP_URL does not require TLS: an attacker on the network can read mails to ${host}, and the password.`
  return (isProduction ? warning : info)(finding, fix)
}

const SOON_MS = 30 * 86_400_000

export const storageChecks = {
  /** Checks that the keys belong to this database, and which of them are in use. */
  async *keys(parts) {
    const { dir, keys: configured } = await parts.config()
    const database = await parts.database()
    if (!(await isVaultKnown(database))) return 'There are no keys yet. The first start of a server creates them.'
    const vault = createLocalKeyVault({ ...configured, dir })
    try {
      await assertVaultBelongs(database, dir, false)
      await assertKeysHeld(database, vault.ring, dir)
      await assertKeySharesHeld(database, dir)
    } catch (error) {
      const fix = 'Restore the newest backup of ANNAL_DIR/keys as described in docs/how-to/back-up-and-restore.md.'
      return failure(messageOf(error), fix)
    }
    const { keys, lost } = await createKeyRotation({
      ...{ database, custody: createCustody({ vault, keyPairs }), keyRing: vault.ring },
      envelopeCipher: createEnvelopeCipher({ vault }),
    }).status()
    const [current, ...previous] = keys
    const source = configured.key ? 'KEY_ENCRYPTION_KEY' : 'ANNAL_DIR/keys'
    yield ok(`The key ${current!.id} from ${source} is in use and wraps ${current!.total} rows.`)
    const finding = `${counted(lost, 'row uses', 'rows use')} a key that the vault does not have, so they are unreadable.`
    if (lost > 0) yield failure(finding, 'Set KEY_ENCRYPTION_KEY_PREVIOUS to the previous key.')
    const left = previous.reduce((sum, { total }) => sum + total, 0)
    const rest = `${counted(left, 'row still uses', 'rows still use')} a previous key.`
    if (left > 0) yield warning(rest, 'Continue the rotation: `annal keys rotate`.')
    else if (previous.length > 0) {
      const fix = configured.key ? 'Remove KEY_ENCRYPTION_KEY_PREVIOUS.' : 'Run `annal keys destroy-previous`.'
      yield info(`${counted(previous.length, 'previous key wraps', 'previous keys wrap')} nothing.`, fix)
    }
  },

  /** Checks that key and certificates match, and the validity period of the certificates. */
  async *'content-credentials'({ config }) {
    const { contentCredentials, dir, production } = await config()
    const { findSigningIdentity } = await loadContentCredentials()
    let identity: ReturnType<typeof findSigningIdentity>
    try {
      identity = findSigningIdentity(contentCredentials, dir)
    } catch (error) {
      if (error instanceof FixableError) throw error
      return failure(messageOf(error), 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY to a matching pair.')
    }
    if (contentCredentials.certificates === undefined) {
      const fix = 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY. docs/how-to/sign-content-credentials.md describes them.'
      const finding = contentCredentials.mayBeDevelopment
        ? 'Content Credentials are signed with a development certificate, which nobody trusts.'
        : 'Files with Content Credentials are not available: there is no certificate.'
      return (production && contentCredentials.mayBeDevelopment ? warning : info)(finding, fix)
    }
    const fix = 'Get a new certificate, set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY, and restart the servers.'
    for (const [index, { validFrom, validTo }] of identity!.certificates.entries()) {
      const signer = `The certificate for Content Credentials (${identity!.subject})`
      const name = index === 0 ? signer : `Certificate ${index + 1} of its chain`
      const left = new Date(validTo).getTime() - Date.now()
      if (new Date(validFrom).getTime() > Date.now()) yield failure(`${name} is not valid yet.`, fix)
      else if (left <= 0) yield failure(`${name} expired ${formatDuration(left)} ago: files are not signed.`, fix)
      else if (left < SOON_MS) yield warning(`${name} expires in ${formatDuration(left)}.`, fix)
      else yield ok(`${name} is valid for another ${formatDuration(left)}.`)
    }
  },

  async *files(parts) {
    const { files, dir } = await parts.config()
    if (files.s3) return yield* checkBucket(parts, files.s3)
    if (files.kuboUrl) return yield* checkKubo(files.kuboUrl)
    const folder = join(dir, 'blocks')
    await assertOwnStore(parts, ownedBlocks(folder))
    if (!existsSync(folder)) throw new SkippedError(`No server was ever started in ${dir}.`)
    if (!(await createContentStore({ dir: folder }).isReachable()))
      yield failure(`Cannot write files in ${folder}.`, 'Check its owner and permissions, and the disk.')
    return `${folder} is writable.`
  },

  /** Checks that the mail server accepts mails from the sender over an encrypted connection. */
  async *mail({ config }) {
    const { mail, dir, production } = await config()
    if (!mail.smtpUrl)
      return info(`Mails are written to files in ${join(dir, 'mail')}.`, 'Set SMTP_URL and MAIL_FROM to send them.')
    const { failure: problem, isEncrypted } = await checkMailServer(mail.smtpUrl, mail.from)
    yield problem ? failure(problem.finding, problem.fix) : ok('The mail server accepts mail.')
    const encryption = URL.canParse(mail.smtpUrl) && diagnoseEncryption(mail.smtpUrl, isEncrypted, production)
    if (encryption) yield encryption
    const fix = 'Set MAIL_FROM to an address of yours, such as Annal <no-reply@example.org>.'
    if (/@localhost\b/.test(mail.from)) yield warning(`Other mail servers reject mails from ${mail.from}.`, fix)
    else if (!problem) yield ok(`Mails are from ${mail.from}.`)
  },
} satisfies Checks
