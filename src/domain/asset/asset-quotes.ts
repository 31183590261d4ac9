/** Dry runs of what an asset's commits cost, and receipts for those that were charged. */
import type { Asset } from '../../platform/prisma/client.ts'
import { type Actor, assertUser, type UserActor } from '../actor.ts'
import { DomainError, notFound } from '../errors.ts'
import { inspect } from '../input.ts'
import { assertMayOnAsset, assertUserMay, visibleAssets } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import type { ContentStore, StoredFile } from '../ports/files.ts'
import { numeric, statement, uuid } from '../sql.ts'
import type { FundsService } from '../wallet/funds.ts'
import { commitCost, type Prices } from '../wallet/pricing.ts'
import { nothingToPay, type Quote, quoteOf, receiptOf, refusalsOf } from '../wallet/quote.ts'
import { assertNotEmpty, type Change, duplicate, judgeUpdate } from './asset-guards.ts'
import {
  type RegisterInput,
  type RevertFields,
  type RevertInput,
  registerInput,
  revertInput,
  type UpdateInput,
  updateInput,
} from './asset-input.ts'
import { changeBackTo } from './asset-revert.ts'
import type { AssetQuery, AssetToUpdate } from './asset-selection.ts'
import type { IncomingFile } from './uploads.ts'
import type { VersionService } from './version-service.ts'

interface Dependencies {
  database: Database
  contentStore: ContentStore
  pricing: Prices
  funds: FundsService
  versions: Pick<VersionService, 'at'>
  load: (nid: string, query?: AssetQuery) => Promise<AssetToUpdate | null>
}

interface Target {
  nid: string
  expectedHead?: string | undefined
}

/** What a commit took from its author's wallet, and what is in it now. */
const findCharge = statement(
  'commit_charge',
  {
    parameters: { commit: uuid, author: uuid },
    columns: { price: numeric, gas: numeric, pointsPaid: numeric, numPaid: numeric, points: numeric, num: numeric },
  },
  `select
     coalesce(sum(e.amount) filter (where e.book = 'REVENUE'), 0) as price,
     coalesce(sum(e.amount) filter (where e.book = 'GAS'), 0) as gas,
     coalesce(-sum(e.amount) filter (where e.wallet_id = w.user_id and e.currency = 'POINTS'), 0) as "pointsPaid",
     coalesce(-sum(e.amount) filter (where e.wallet_id = w.user_id and e.currency = 'NUM'), 0) as "numPaid",
     w.points, w.num
   from wallets w
   left join transfers t on t.reference = 'commit:' || $commit
   left join entries e on e.transfer_id = t.id
   where w.user_id = $author
   group by w.user_id`,
)

/** The refusal a check raises. One that asks to try again says nothing about the request, and is raised here, too. */
async function refusalsIn(check: () => unknown): Promise<DomainError[]> {
  try {
    await check()
    return []
  } catch (error) {
    if (error instanceof DomainError && error.retryAfter === undefined) return [error]
    throw error
  }
}

/** What commits of an asset would cost, and did; part of the asset service. `load` reads an asset as an update must know it. */
export function createAssetQuotes({ database, contentStore, pricing, funds: wallets, versions, load }: Dependencies) {
  const costNow = () => commitCost(pricing())
  const fundsOf = ({ id }: UserActor) => wallets.of(id)

  async function receipt(actor: Actor, commitId: string | undefined): Promise<Quote> {
    assertUser(actor)
    if (commitId === undefined) return receiptOf(nothingToPay, { points: '0', num: '0' }, await fundsOf(actor))
    const [charge] = await database.query(findCharge, { commit: commitId, author: actor.id })
    const { price, gas, pointsPaid, numPaid, ...funds } = charge!
    return receiptOf({ price, gas }, { points: pointsPaid, num: numPaid }, funds)
  }

  /**
   * Checks a file as a registration does, except that it ignores assets the actor may not see: a quote is free, and would reveal a
   * private asset to anyone who has its file. Raises VALIDATION_FAILED, DUPLICATE_ASSET.
   */
  async function assertRegistrable(actor: Actor, { cid, size }: Pick<StoredFile, 'cid' | 'size'>): Promise<void> {
    assertNotEmpty({ size })
    if (await database.read.asset.count({ where: { nid: cid, ...visibleAssets(actor) } })) throw duplicate(cid)
  }

  /** Quotes the change that `read` makes of the asset as it is. */
  async function quoteChange(
    actor: Actor,
    { nid, expectedHead }: Target,
    query: AssetQuery = {},
    read: (asset: AssetToUpdate) => Promise<{ data: Change; refusals: DomainError[] }>,
  ): Promise<{ asset: Asset; quote: Quote }> {
    assertUserMay(actor, 'asset:update')
    const loaded = await load(nid, query)
    assertMayOnAsset(actor, 'asset:update', loaded)
    const asset: AssetToUpdate = loaded
    const { data, refusals } = await read(asset)
    const funds = await fundsOf(actor)
    const judged = judgeUpdate(asset, data, {
      cost: costNow(),
      funds,
      expectedHead,
      hasBadFields: refusals.length > 0,
    })
    const quote = quoteOf(judged.cost, funds, [...refusals, ...judged.refusals])
    return { asset: asset as unknown as Asset, quote }
  }

  return {
    /**
     * Quotes `register`. Nothing of the file is kept. Without a file, only the other fields are checked. All other refusals
     * are problems of the quote. Raises NOT_AUTHENTICATED.
     */
    async quoteRegistration(
      actor: Actor,
      file: (() => Promise<IncomingFile>) | undefined,
      rawInput: RegisterInput,
    ): Promise<Quote> {
      assertUserMay(actor, 'asset:register')
      const { data, refusals } = inspect(registerInput, rawInput)
      const identify = async (incoming: IncomingFile) => contentStore.identifyFile(incoming.open())
      if (file) refusals.push(...(await refusalsIn(async () => assertRegistrable(actor, await identify(await file())))))
      const funds = await fundsOf(actor)
      const cost = costNow()
      return quoteOf(cost, funds, [...refusals, ...refusalsOf('commit', cost, { funds, maxCost: data.maxCost })])
    },

    /**
     * A dry run of `update`, with the asset as it is. An update that changes nothing costs nothing. All other refusals are
     * the quote's problems. Raises NOT_AUTHENTICATED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.
     */
    async quoteUpdate(actor: Actor, { nid, expectedHead, ...rawInput }: UpdateInput & Target, query?: AssetQuery) {
      return quoteChange(actor, { nid, expectedHead }, query, async () => inspect(updateInput, rawInput))
    },

    /** The same of `revert`. A moment that the history does not have is a problem of the quote. */
    async quoteRevert(actor: Actor, { nid, expectedHead, ...rawInput }: RevertInput & Target, query?: AssetQuery) {
      return quoteChange(actor, { nid, expectedHead }, query, async (asset) => {
        const { data, refusals } = inspect(revertInput, rawInput)
        let change: Change = { maxCost: data.maxCost }
        const { revertTo } = data
        if (revertTo === undefined) return { data: change, refusals }
        const unknown = await refusalsIn(async () => {
          change = await changeBackTo(versions, asset, { ...data, revertTo } as RevertFields)
        })
        return { data: change, refusals: [...refusals, ...unknown] }
      })
    },

    /** What a commit of the actor charged; without one, that nothing was. Raises NOT_AUTHENTICATED. */
    receipt,

    /** What the registration of an asset charged. Raises NOT_AUTHENTICATED, NOT_FOUND. */
    async registrationReceipt(actor: Actor, nid: string): Promise<Quote> {
      const first = await database.read.commit.findFirst({
        select: { id: true },
        where: { sequence: 1, asset: { nid, ...visibleAssets(actor) } },
      })
      if (!first) throw notFound('Asset')
      return receipt(actor, first.id)
    },
  }
}
