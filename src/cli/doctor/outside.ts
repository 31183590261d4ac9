/** Checks of what else is outside the process: where files lie, and where mail goes out. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { S3BucketOptions } from '../../files/s3-bucket.ts'
import type { OwnedStore } from '../../files/store-owner.ts'
import { type Diagnosis, right, SkippedError, toKnow, warning, wrong } from './diagnosis.ts'
import { isLoopback } from './is-loopback.ts'
import type { Parts } from './parts.ts'

/** Reports a store that is not the one of this installation. Undefined where it is, and while the database cannot tell. */
async function diagnoseOwner(parts: Parts, store: OwnedStore): Promise<Diagnosis | undefined> {
  const opened = await parts.database().catch(() => undefined)
  if (!opened) return undefined
  const { findSetting, settingKeys } = await import('../../db/key-value-store.ts')
  const { findSampleFiles } = await import('../../modules/assets/pinned-files.ts')
  const { judgeStore } = await import('../../files/store-owner.ts')
  const [vault] = await opened.database.query(findSetting, { key: settingKeys.vault })
  if (!vault) return undefined
  const findFiles = async () => (await opened.database.query(findSampleFiles)).map(({ nid }) => nid)
  const problem = await judgeStore(store, vault.value, findFiles)
  return problem && wrong(problem.finding, problem.fix)
}

/** Whether files can be read and written. */
export async function checkFiles(parts: Parts): Promise<Diagnosis[]> {
  const { files, dir } = await parts.config()
  if (files.s3) return checkBucket(parts, files.s3)
  if (files.kuboUrl) return checkKubo(files.kuboUrl)
  const folder = join(dir, 'blocks')
  const { ownedBlocks } = await import('../../files/blocks-owner.ts')
  const foreign = await diagnoseOwner(parts, ownedBlocks(folder))
  if (foreign) return [foreign]
  if (!existsSync(folder)) throw new SkippedError(`Nothing was ever started in ${dir}.`)
  const { createContentStore } = await import('../../files/content-store.ts')
  if (await createContentStore({ dir: folder }).isReachable()) return [right(`Files can be written in ${folder}.`)]
  return [wrong(`Files cannot be written in ${folder}.`, 'Look at its owner and permissions, and at the disk.')]
}

/** Checks that Kubo answers, syncs blocks to its disk, and gives private files to nobody. */
async function checkKubo(url: string): Promise<Diagnosis[]> {
  const { countServed, createKuboContentStore, keepsUnsynced } = await import('../../files/kubo-store.ts')
  // The URL may contain a password.
  const { host } = new URL(url)
  if (!(await createKuboContentStore({ url }).isReachable())) {
    const fix = 'Start Kubo, or set IPFS_API_URL to the address of its RPC API (port 5001), not of its gateway.'
    return [wrong(`Kubo does not answer at ${host} (IPFS_API_URL).`, fix)]
  }
  const diagnoses = [right('Kubo answers at IPFS_API_URL.')]
  const served = await countServed(url)
  if (served > 0) {
    diagnoses.push(
      wrong(
        `Kubo at ${host} gives private files to ${served} connected nodes: anyone who knows a CID gets the blocks, and the chain publishes all CIDs.`,
        'Set "Bitswap.ServerEnabled" and "Provide.Enabled" to false in its configuration, and restart it. See docs/files.md.',
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

/** Whether a bucket takes, gives and removes objects, and whether what is removed is gone. */
async function checkBucket(parts: Parts, options: S3BucketOptions): Promise<Diagnosis[]> {
  const { createS3Bucket, tryBucket } = await import('../../files/s3-bucket.ts')
  const { ownedBucket } = await import('../../files/s3-owner.ts')
  const bucket = createS3Bucket(options)
  try {
    await tryBucket(bucket)
  } catch (error) {
    const { cause } = error as Error
    const reason = cause instanceof Error ? cause.message : (error as Error).message
    const fix =
      'Look at S3_BUCKET, AWS_REGION, S3_ENDPOINT and the credentials, which must allow to list the bucket and to read, write and delete objects below S3_PREFIX.'
    return [wrong(`Files cannot be kept in the bucket ${options.bucket}: ${reason}`, fix)]
  }
  const foreign = await diagnoseOwner(parts, ownedBucket(bucket))
  if (foreign) return [foreign]
  const diagnoses = [right(`Files can be written, read and removed in the bucket ${options.bucket}.`)]
  if (await bucket.keepsVersions()) {
    const finding = `The bucket ${options.bucket} keeps versions: what is removed stays there, and is paid for.`
    diagnoses.push(
      warning(finding, 'Give the bucket a lifecycle rule that removes noncurrent versions after some days.'),
    )
  }
  return diagnoses
}

const ENCRYPT =
  'Set SMTP_URL to smtps://user:password@host:465, or to smtp://user:password@host:587?requireTLS=true. The mail server must offer TLS.'

/** Reports a way to the mail server on which others can read mails. Undefined where all of it is encrypted. */
function diagnoseEncryption(
  smtpUrl: string,
  isEncrypted: boolean | undefined,
  production: boolean,
): Diagnosis | undefined {
  const { protocol, host, hostname, searchParams } = new URL(smtpUrl)
  if (protocol === 'smtps:' || searchParams.get('requireTLS') === 'true') return undefined
  const isLocal = isLoopback(hostname)
  const tell = production && !isLocal ? warning : toKnow
  if (isEncrypted === false) {
    const finding = `The mail server at ${host} does not offer STARTTLS`
    if (isLocal) return toKnow(`${finding}. Mails reach it unencrypted, on this machine only.`)
    return tell(`${finding}: mails with their links, and the password of SMTP_URL, are sent unencrypted.`, ENCRYPT)
  }
  if (isLocal) return undefined
  return tell(
    `SMTP_URL does not require TLS: somebody on the way to ${host} can keep mails with their links, and the password, unencrypted.`,
    ENCRYPT,
  )
}

/** Checks whether the mail server takes mail, whether the connection is encrypted, and who mails are from. */
export async function checkMail({ config }: Parts): Promise<Diagnosis[]> {
  const { mail, dir, production } = await config()
  if (!mail.smtpUrl)
    return [toKnow(`Mails become files in ${join(dir, 'mail')}.`, 'Set SMTP_URL and MAIL_FROM to send them.')]
  const { checkMailServer } = await import('../../mail/mail-server.ts')
  const { failure, isEncrypted } = await checkMailServer(mail.smtpUrl, mail.from)
  const diagnoses = [failure ? wrong(failure.finding, failure.fix) : right('The mail server takes mail.')]
  if (URL.canParse(mail.smtpUrl)) {
    const encryption = diagnoseEncryption(mail.smtpUrl, isEncrypted, production)
    if (encryption) diagnoses.push(encryption)
  }
  if (/@localhost\b/.test(mail.from)) {
    const finding = `Mails are from ${mail.from}, which other servers refuse.`
    diagnoses.push(warning(finding, 'Set MAIL_FROM to an address of your own, such as Annal <no-reply@example.org>.'))
  } else if (diagnoses[0]!.state === 'right') diagnoses.push(right(`Mails are from ${mail.from}.`))
  return diagnoses
}
