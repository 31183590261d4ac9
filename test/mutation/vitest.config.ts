import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Tests of the mutated code. StrykerJS runs them for each change, so slow tests of other code are not included. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], setupFiles: [], execArgv: [] } },
  {
    test: {
      include: [
        'test/unit/{chain,store,wallet}/*.test.ts',
        'test/unit/db/check-invariants.test.ts',
        'test/unit/shared/policy.test.ts',
        'test/api/accounts/lock-account.test.ts',
        'test/api/assets/{register,update}-asset.test.ts',
        'test/api/http/idempotency.test.ts',
        'test/api/store/{open-orders,orders,refunds}.test.ts',
        'test/api/wallet/*.test.ts',
      ],
    },
  },
)
