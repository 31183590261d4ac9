import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], setupFiles: [], execArgv: [] } },
  {
    test: {
      include: [
        'test/chain/*.test.ts',
        'test/domain/{charging,check-invariants,deposit-books,money,points-first,policy,order-of-transfers,writes-together}.test.ts',
        'test/parity/{acting-for-people,doors,locked-accounts}.test.ts',
        'test/graphql/{quotes,wallet}*.test.ts',
        'test/rest/{orders,open-orders,refunds,idempotency,wallets,withdrawals,hidden-assets,assets}*.test.ts',
      ],
    },
  },
)
