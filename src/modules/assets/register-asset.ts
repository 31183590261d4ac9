import { z } from 'zod'
import type { Use } from '../../context.ts'
import { violatedConstraint } from '../../db/database-types.ts'
import { bigint, boolean, statement, text, timestamp } from '../../db/sql.ts'
import type { StoredFile } from '../../files/file-types.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import * as idempotent from '../../shared/idempotency.ts'
import { inspect, parse, trimmedText } from '../../shared/input.ts'
import { assertUserMay, type UserActor, visibleAssets } from '../../shared/policy.ts'
import { cleanFileName } from '../../shared/text.ts'
import { charged, chargeSql } from '../wallet/ledger-sql.ts'
import * as quotes from '../wallet/quote.ts'
import { declaredTypeOf, isMimeType, isUninformative, registeredTypeOf, typePatterns } from './file-types.ts'
import * as metadata from './metadata.ts'
import { storeAndPin } from './pinned-files.ts'
import { commitParameters, commitParams, commitSql, problemsIn, readOpenFunds } from './update-asset.ts'
import type { IncomingFile } from './uploads.ts'

const { onceParams, isKnownKey, once, onceTypes, onceSql } = idempotent
const { insufficientFunds, maxCost, quoteOf, readCommitCost, readFunds, validateCharge } = quotes

/** Maximum size of a registered file, in bytes. */
export const MAX_FILE_BYTES = 250_000_000

const registerInput = z
  .strictObject({
    ...metadata.registrationInputs,
    assetFileMimeType: trimmedText(metadata.inputLengths.mimeType).refine(
      (type) => isMimeType(type) || isUninformative(type),
      'Enter a MIME type such as image/jpeg.',
    ),
    maxCost,
  })
  .partial()
type AssetFile = PromiseLike<IncomingFile> | IncomingFile
type RegisterInput = z.input<typeof registerInput>

type Needs = idempotent.IdempotentContext &
  Use<'chain' | 'config' | 'contentStore' | 'gasFee' | 'log' | 'notifications' | 'rateLimiter' | 'uploads'>

/** Checks limits before the body of a quote is read. Throws NOT_AUTHENTICATED, THROTTLED. */
export async function admitRegistrationQuote({ actor, rateLimiter, uploads }: Needs, bytes: number): Promise<void> {
  assertUserMay(actor, 'asset:register')
  await rateLimiter.assertAvailable('upload', actor.id)
  uploads.assertRoom(actor, bytes)
}

/** Checks limits and funds before the body is read. Throws like `admitRegistrationQuote` and `assertCanPay`. */
export async function admitRegistration(context: Needs, bytes: number): Promise<void> {
  await admitRegistrationQuote(context, bytes)
  await assertCanPay(context, context.actor as UserActor)
}

/**
 * Registers a file, writes its first commit, and charges the caller. Returns the nid. Throws VALIDATION_FAILED,
 * PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND, THROTTLED.
 */
export async function registerAsset(
  context: Needs,
  { assetFile, ...fields }: RegisterInput & { assetFile: AssetFile },
): Promise<string> {
  const { actor, contentStore, rateLimiter } = context
  assertUserMay(actor, 'asset:register')
  const input = parse(registerInput, fields)
  const isRetry = await assertCanPay(context, actor, input.maxCost)
  await rateLimiter.consume('upload', actor.id)
  const file = await assetFile
  const register = (stored: StoredFile) => registerOnce(context, actor, file, stored, input)
  if (isRetry) return register(await contentStore.identifyFile(file.createReadStream()))
  return storeAndPin(
    context,
    () => contentStore.importFile(file.createReadStream()),
    (imported) =>
      register(imported).catch(async (error: unknown) => {
        if (error instanceof DomainError && !mayBeNeeded(error)) await imported.discard()
        throw error
      }),
  )
}

/** Throws only NOT_AUTHENTICATED. Other errors are part of the quote. */
export async function quoteRegistration(
  context: Use<'actor' | 'config' | 'contentStore' | 'database' | 'gasFee'>,
  { assetFile, ...fields }: RegisterInput & { assetFile?: AssetFile | undefined },
) {
  const { actor, contentStore, database } = context
  assertUserMay(actor, 'asset:register')
  const { data, refusals } = inspect(registerInput, fields)
  const problems = await problemsIn(async () => {
    if (!assetFile) return
    const { cid, size } = await contentStore.identifyFile((await assetFile).createReadStream())
    assertNotEmpty(size)
    // A free quote must not reveal another user's private asset to anyone who has the file.
    if (await database.read.asset.count({ where: { nid: cid, ...visibleAssets(actor) } })) throw duplicate(cid)
  })
  const funds = await readFunds(context, actor.id)
  const cost = readCommitCost(context)
  const errors = validateCharge('commit', cost, { funds, maxCost: data.maxCost })
  return quoteOf(cost, funds, [...refusals, ...problems, ...errors])
}

/**
 * Rejects a registration that the wallet cannot pay, before the file is received. Returns true for a known idempotency
 * key, because a retry costs nothing. Throws PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.
 */
async function assertCanPay(context: Needs, actor: UserActor, maxCost?: string): Promise<boolean> {
  // The balance was read before this check. Any charge that it includes has already stored its idempotency key.
  if (await isKnownKey(context, actor)) return true
  const [error] = validateCharge('commit', readCommitCost(context), { funds: actor.user.wallet, maxCost })
  if (error) throw error
  return false
}

/** Returns true if a failed request must keep the file: the registration may have succeeded or restored lost blocks. */
const mayBeNeeded = ({ code }: DomainError) => code === 'UNAVAILABLE' || code === 'DUPLICATE_ASSET'

type Input = z.output<typeof registerInput>

async function registerOnce(context: Needs, actor: UserActor, file: IncomingFile, stored: StoredFile, input: Input) {
  const { assetFileMimeType } = input
  const fileName = cleanFileName(file.filename) ?? 'file'
  const facts = { ...input, mimeType: assetFileMimeType ?? declaredTypeOf(file), fileName }
  return once(context, 'registerAsset', { ...facts, nid: stored.cid }, async () =>
    insert(context, actor, stored, { ...facts, mimeType: await registeredTypeOf(file, assetFileMimeType) }),
  )
}

async function insert(
  context: Needs,
  actor: UserActor,
  { cid, sha256, size }: StoredFile,
  input: Input & { mimeType: string; fileName: string },
): Promise<string> {
  const { chain, contentStore, database, notifications } = context
  const { nitCommitCustom = {}, commitMessage, meta = null, maxCost, mimeType, fileName, ...rest } = input
  assertNotEmpty(size)
  const [found] = await database.query(findRegistered, { nid: cid })
  if (found!.is_registered) throw duplicate(cid)
  const uploadedAt = found!.now
  const cost = readCommitCost(context)
  const [error] = validateCharge('commit', cost, { maxCost })
  if (error) throw error
  const custom = metadata.mergeCustom({}, nitCommitCustom)
  const values: metadata.Metadata = { ...metadata.emptyMetadata, ...rest, custom }
  const creator = { creatorName: actor.user.username, creatorAddress: actor.user.wallet.address }
  const tree = metadata.writeTree({ ...values, ...creator, nid: cid, sha256, mimeType, uploadedAt })
  const changes = metadata.compare(metadata.emptyMetadata, values)
  const [row] = await database
    .query(insertAsset, {
      ...commitParams(contentStore, actor.id, { message: commitMessage, changes, tree }),
      ...{ fee: cost.price, gas: cost.gas },
      ...{ nid: cid, fileName, mimeType, fileSize: String(size), sha256 },
      ...{ meta, uploadedAt, ...metadata.metadataParams(values), ...onceParams(context) },
    })
    .catch((failure: unknown) => {
      throw violatedConstraint(failure) === 'assets_nid_key' ? duplicate(cid) : failure
    })
  if (!row) throw insufficientFunds('commit', cost, await readOpenFunds(context, actor))
  chain.wake()
  notifications.notify(actor.id)
  return row.nid
}

const duplicate = (nid: string) =>
  new DomainError('DUPLICATE_ASSET', 'This file is registered already.', { details: [{ id: nid, cid: nid }] })

function assertNotEmpty(size: number): void {
  if (size === 0) throw validationFailed({ assetFile: ['The submitted file is empty.'] })
}

export const findRegistered = statement(
  'asset_registered',
  { parameters: { nid: text }, columns: { is_registered: boolean, now: timestamp } },
  `select exists (select from assets where nid = $nid and deleted_at is null) as is_registered,
     clock_timestamp()::timestamptz(3) as now`,
)

/** SQL of files: the CTE that has their `id`, and the expressions of their type and owner. */
type Files = Record<'from' | 'mimeType' | 'owner', string>

/** Jobs are queued per account, because slow files of one account must not delay other accounts. */
export const fileJob = (queue: 'thumbnail' | 'manifest', { from, mimeType, owner }: Files) => ({
  queue,
  from: `${from} where ${mimeType} ~* '${typePatterns[queue]}'`,
  ...{ data: { assetId: 'id' }, group: owner, fairly: true as const },
})

const newFile: Files = { from: 'inserted_asset', mimeType: '$mimeType', owner: '$user' }

/** Violates the unique index on `nid` for a duplicate. */
export const insertAsset = statement(
  'asset_insert',
  {
    parameters: {
      ...{ ...commitParameters, ...charged, ...metadata.registrationParameters, ...onceTypes },
      ...{ nid: text, fileName: text, mimeType: text, fileSize: bigint, sha256: text, uploadedAt: timestamp },
    },
    columns: { nid: text, jobs: bigint },
  },
  `with author as (select user_id as payer, $fee as fee, $gas as gas from wallets where user_id = $user),
   ${chargeSql({ from: 'author' })},
   inserted_asset as (
     insert into assets (nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, ${metadata.metadataColumnsSql},
       head_sequence, head_commit_id, uploaded_at, updated_at, thumbnail_requested)
     select $nid, $user, $user, $fileName, $mimeType, $fileSize, $sha256, ${metadata.metadataValuesSql},
       1, charge.commit_id, $uploadedAt, $uploadedAt, true
     from charge returning id, nid
   ),
   first_commit as (select charge.*, inserted_asset.id, 1 as position from charge, inserted_asset),
   ${commitSql('first_commit', (name) => `$${name}`)},
   updated_owner as (
     update users set asset_count = asset_count + 1 from inserted_asset where users.id = $user
   ),
   inserted_pin as (
     insert into pins (cid, asset_id, kind) select nid, id, 'FILE' from inserted_asset
   ),
   ${enqueueSql('enqueued_jobs', fileJob('thumbnail', newFile), fileJob('manifest', newFile))},
   ${onceSql('$nid', 'inserted_asset')}
   select nid, (select count(*) from enqueued_jobs) as jobs from inserted_asset`,
)
