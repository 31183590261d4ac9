/** Quotes of the commits of an asset. */

import type { Database } from '../../db/database-types.ts'
import type { ContentStore, StoredFile } from '../../files/file-types.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { DomainError } from '../../shared/errors.ts'
import { inspect } from '../../shared/input.ts'
import { assertMayOnAsset, assertUserMay, visibleAssets } from '../../shared/policy.ts'
import type { VersionService } from '../commits/version-service.ts'
import type { FundsService } from '../wallet/funds.ts'
import { commitCost, type Prices } from '../wallet/pricing.ts'
import { type Quote, quoteOf, refusalsOf } from '../wallet/quote.ts'
import {
  type RegisterInput,
  type RevertFields,
  type RevertInput,
  registerInput,
  revertInput,
  type UpdateInput,
  updateInput,
} from './asset-input.ts'
import type { AssetToUpdate } from './asset-selection.ts'
import { assertNotEmpty, type Change, duplicate, judgeUpdate } from './asset-validation.ts'
import type { IncomingFile } from './uploads.ts'

interface Dependencies {
  database: Database
  contentStore: ContentStore
  pricing: Prices
  funds: FundsService
  versions: Pick<VersionService, 'changeBackTo'>
  load: (nid: string) => Promise<AssetToUpdate | null>
}

interface Target {
  nid: string
  expectedHead?: string | undefined
}

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

/** Quotes commits of assets; part of the asset service. `load` reads an asset as an update must know it. */
export function createAssetQuotes({ database, contentStore, pricing, funds: wallets, versions, load }: Dependencies) {
  const costNow = () => commitCost(pricing())
  const fundsOf = ({ id }: UserActor) => wallets.of(id)

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
    read: (asset: AssetToUpdate) => Promise<{ data: Change; refusals: DomainError[] }>,
  ): Promise<Quote> {
    assertUserMay(actor, 'asset:update')
    const asset = await load(nid)
    assertMayOnAsset(actor, 'asset:update', asset)
    const { data, refusals } = await read(asset)
    const funds = await fundsOf(actor)
    const judged = judgeUpdate(asset, data, {
      cost: costNow(),
      funds,
      expectedHead,
      hasBadFields: refusals.length > 0,
    })
    return quoteOf(judged.cost, funds, [...refusals, ...judged.refusals])
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
      const identify = async (incoming: IncomingFile) => contentStore.identifyFile(incoming.createReadStream())
      if (file) refusals.push(...(await refusalsIn(async () => assertRegistrable(actor, await identify(await file())))))
      const funds = await fundsOf(actor)
      const cost = costNow()
      return quoteOf(cost, funds, [...refusals, ...refusalsOf('commit', cost, { funds, maxCost: data.maxCost })])
    },

    /**
     * Quotes `update`. An update that changes nothing costs nothing. All other refusals are problems of the quote. Raises NOT_AUTHENTICATED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.
     */
    async quoteUpdate(actor: Actor, { nid, expectedHead, ...rawInput }: UpdateInput & Target) {
      return quoteChange(actor, { nid, expectedHead }, async () => inspect(updateInput, rawInput))
    },

    /** Quotes `revert`. A version that the history does not have is a problem of the quote. */
    async quoteRevert(actor: Actor, { nid, expectedHead, ...rawInput }: RevertInput & Target) {
      return quoteChange(actor, { nid, expectedHead }, async (asset) => {
        const { data, refusals } = inspect(revertInput, rawInput)
        let change: Change = { maxCost: data.maxCost }
        const { revertTo } = data
        if (revertTo === undefined) return { data: change, refusals }
        const unknown = await refusalsIn(async () => {
          change = await versions.changeBackTo(asset, { ...data, revertTo } as RevertFields)
        })
        return { data: change, refusals: [...refusals, ...unknown] }
      })
    },
  }
}
