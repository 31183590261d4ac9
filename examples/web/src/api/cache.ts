import { type Cache, cacheExchange, type UpdateResolver } from '@urql/exchange-graphcache'

/** Has what is shown of these fields read anew, with whatever arguments they were asked for. */
const forget = (cache: Cache, entity: Parameters<Cache['inspectFields']>[0], ...fields: string[]) => {
  for (const { fieldName, arguments: args } of cache.inspectFields(entity)) {
    if (fields.includes(fieldName)) cache.invalidate(entity, fieldName, args)
  }
}

/** What a charge or a refund changes besides the thing that was paid for. */
const forgetMoney = (cache: Cache) => forget(cache, 'Query', 'me', 'transfers', 'orders')

const afterRegistration: UpdateResolver = (_result, _args, cache) => {
  forgetMoney(cache)
  forget(cache, 'Query', 'assets')
}

const afterUpdate: UpdateResolver<{ updateAssetMetadata: { asset: { id: string } } }> = (result, _args, cache) => {
  forgetMoney(cache)
  forget(cache, { __typename: 'Asset', id: result.updateAssetMetadata.asset.id }, 'commits')
}

/** A commit that is new is not in any list yet, and changed the asset; one that is known is updated by its id. */
const afterCommit: UpdateResolver<{ commitUpdated: { status: string } }, { nid: string }> = (
  result,
  { nid },
  cache,
) => {
  if (result.commitUpdated.status === 'PENDING') cache.invalidate({ __typename: 'Asset', id: nid })
}

const afterWithdrawal: UpdateResolver = (_result, _args, cache) => {
  forgetMoney(cache)
  forget(cache, 'Query', 'withdrawals')
}

const withoutId = () => null

/**
 * Keeps every thing once, by its id: what a mutation or a subscription tells of a commit or an order is shown wherever it stands.
 */
export const createCache = () =>
  cacheExchange({
    keys: {
      AssetConnection: withoutId,
      CommitConnection: withoutId,
      DepositConnection: withoutId,
      NetworkAppConnection: withoutId,
      OrderConnection: withoutId,
      PageInfo: withoutId,
      Pricing: withoutId,
      PaymentQuote: withoutId,
      QuoteProblem: withoutId,
      TransferConnection: withoutId,
      Wallet: withoutId,
      WalletBalance: withoutId,
      WithdrawalConnection: withoutId,
      WithdrawalQuote: withoutId,
    },
    updates: {
      Mutation: {
        registerAsset: afterRegistration,
        updateAssetMetadata: afterUpdate,
        createOrder: (_result, _args, cache) => forgetMoney(cache),
        confirmOrder: (_result, _args, cache) => forgetMoney(cache),
        withdraw: afterWithdrawal,
        cancelWithdrawal: (_result, _args, cache) => forgetMoney(cache),
      },
      Subscription: {
        commitUpdated: afterCommit,
        orderUpdated: (_result, _args, cache) => forgetMoney(cache),
      },
    },
  })
