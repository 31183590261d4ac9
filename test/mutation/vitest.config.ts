import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], setupFiles: [], execArgv: [] } },
  {
    test: {
      include: [
        'test/chain/*.test.ts',
        'test/domain/{charging,check-invariants,deposit-books,money,points-first,policy,order-of-transfers,writes-together}.test.ts',
        'test/api/accounts/{acting-for-people,lock-account}.test.ts',
        'test/graphql/{quotes,wallet}*.test.ts',
        'test/api/{assets,store}/*.test.ts',
        'test/rest/{open-orders,idempotency,wallets,withdrawals,hidden-assets,assets}*.test.ts',
      ],
    },
  },
)
