/** Registering files: the first commit of an asset. */

import type { Chain } from '../../chain/chain-types.ts'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import type { ContentStore, StoredFile } from '../../files/file-types.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { DomainError } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { parse } from '../../shared/input.ts'
import { assertUserMay } from '../../shared/policy.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import { cleanFileName } from '../../shared/text.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { commitCost, type Prices } from '../wallet/pricing.ts'
import { type Funds, refusalsOf, shortfallOf } from '../wallet/quote.ts'
import { commitOf } from './asset-changes.ts'
import { type RegisterInput, registerInput } from './asset-input.ts'
import { compare, mergeCustom, writeTree } from './asset-tree.ts'
import { assertNew, duplicate } from './asset-validation.ts'
import { insertAsset } from './assets.sql.ts'
import { type Metadata, nothing, parametersOf } from './metadata.ts'
import { declaredTypeOf, registeredTypeOf } from './registered-type.ts'
import type { Keep } from './store-and-pin.ts'
import type { IncomingFile, Uploads } from './uploads.ts'

/** What registrations need. */
export interface RegistrationDependencies {
  database: Database
  contentStore: ContentStore
  chain: Chain
  notifications: Pick<FeedNotifications, 'notify'>
  idempotency: Idempotency
  pricing: Prices
  rateLimiter: RateLimiter
  uploads: Pick<Uploads, 'assertRoom'>
  keep: Keep
  /** Raises AUTHENTICATION_FAILED when the account was deleted since the request was let in. */
  currentFunds: (actor: UserActor) => Promise<Funds>
}

/**
 * Whether a file that was just imported may be needed though its registration failed: an answer that got lost may have been a yes,
 * and the file of an asset that stands already may have been missing, because blocks came back from an older backup.
 */
const mayBeNeeded = ({ code }: DomainError) => code === 'UNAVAILABLE' || code === 'DUPLICATE_ASSET'

/** Registrations of files; part of the asset service. `uploadsPerHour` is counted for each user in the database. */
export function createAssetRegistration(deps: RegistrationDependencies) {
  const {
    database,
    contentStore,
    chain,
    notifications,
    idempotency,
    pricing,
    currentFunds,
    rateLimiter,
    uploads,
    keep,
  } = deps
  const costNow = () => commitCost(pricing())

  /**
   * Nobody sends 250 MB only to hear that the wallet is empty. What was done already costs nothing again: returns whether the
   * attempt's key is known. Raises PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.
   */
  async function assertWorthReading(actor: UserActor, context: IdempotencyContext, maxCost?: string): Promise<boolean> {
    // The wallet was read before: what charged it since has left its key.
    if (await idempotency.isKnown(actor, context)) return true
    const [refusal] = refusalsOf('commit', costNow(), { funds: actor.user.wallet, maxCost })
    if (refusal) throw refusal
    return false
  }

  async function assertMayUpload(actor: Actor & UserActor, declaredBytes: number): Promise<void> {
    await rateLimiter.assertAvailable('upload', actor.id)
    uploads.assertRoom(actor, declaredBytes)
  }

  async function registerOnce(
    actor: Actor & UserActor,
    file: IncomingFile,
    stored: StoredFile,
    input: ReturnType<typeof registerInput.parse>,
    context: IdempotencyContext,
  ): Promise<string> {
    const { assetFileMimeType: given } = input
    const facts = {
      ...input,
      mimeType: given ?? declaredTypeOf(file),
      fileName: cleanFileName(file.filename) ?? 'file',
    }
    return idempotency.once(actor, context, 'registerAsset', { ...facts, nid: stored.cid }, async () =>
      insert(actor, stored, { ...facts, mimeType: await registeredTypeOf(file, given) }, context),
    )
  }

  async function insert(
    actor: UserActor,
    file: StoredFile,
    given: ReturnType<typeof registerInput.parse> & { mimeType: string; fileName: string },
    context: IdempotencyContext,
  ): Promise<string> {
    const uploadedAt = await assertNew(database, file)
    const { nitCommitCustom = {}, commitMessage, meta = null, maxCost, mimeType, fileName, ...rest } = given
    const cost = costNow()
    const [refusal] = refusalsOf('commit', cost, { maxCost })
    if (refusal) throw refusal
    const metadata: Metadata = { ...nothing, ...rest, custom: mergeCustom({}, nitCommitCustom) }
    const tree = writeTree({
      ...metadata,
      nid: file.cid,
      sha256: file.sha256,
      mimeType,
      uploadedAt,
      creatorName: actor.user.username,
      creatorAddress: actor.user.wallet.address,
    })
    const [row] = await database
      .query(insertAsset, {
        ...commitOf(contentStore, actor, { message: commitMessage, changes: compare(nothing, metadata), tree }),
        ...{ fee: cost.price, gas: cost.gas },
        ...{ nid: file.cid, fileName, mimeType, fileSize: String(file.size), sha256: file.sha256 },
        ...parametersOf(metadata),
        ...{ meta, uploadedAt },
        ...fingerprintOf(context),
      })
      .catch((error: unknown) => {
        throw violatedConstraint(error) === 'assets_nid_key' ? duplicate(file.cid) : error
      })
    if (!row) throw shortfallOf('commit', cost, await currentFunds(actor))
    chain.wake()
    notifications.notify(actor.id)
    return row.nid
  }

  return {
    /** Checks limits before the body of a quote is read. Raises NOT_AUTHENTICATED, THROTTLED. */
    async admitQuote(actor: Actor, declaredBytes: number): Promise<void> {
      assertUserMay(actor, 'asset:register')
      await assertMayUpload(actor, declaredBytes)
    },

    /** Checks limits and funds before the body of a registration is read. Raises NOT_AUTHENTICATED, ASSET_COMMIT_INSUFFICIENT_FUND, THROTTLED. */
    async admitRegistration(actor: Actor, context: IdempotencyContext, declaredBytes: number): Promise<void> {
      assertUserMay(actor, 'asset:register')
      await assertMayUpload(actor, declaredBytes)
      await assertWorthReading(actor, context)
    },

    /**
     * Registers a file, writes its first commit, and charges the update fee and gas; returns the nid.
     * Raises NOT_AUTHENTICATED, VALIDATION_FAILED, PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, PRICE_EXCEEDS_MAX_COST,
     * ASSET_COMMIT_INSUFFICIENT_FUND, THROTTLED.
     */
    async register(
      actor: Actor,
      upload: () => Promise<IncomingFile>,
      rawInput: RegisterInput,
      context: IdempotencyContext,
    ): Promise<string> {
      assertUserMay(actor, 'asset:register')
      const input = parse(registerInput, rawInput)
      const isRetry = await assertWorthReading(actor, context, input.maxCost)
      await rateLimiter.consume('upload', actor.id)
      const file = await upload()
      if (isRetry)
        return registerOnce(actor, file, await contentStore.identifyFile(file.createReadStream()), input, context)
      return keep(
        () => contentStore.importFile(file.createReadStream()),
        async (imported) => {
          try {
            return await registerOnce(actor, file, imported, input, context)
          } catch (error) {
            if (error instanceof DomainError && !mayBeNeeded(error)) await imported.discard()
            throw error
          }
        },
      )
    },
  }
}
