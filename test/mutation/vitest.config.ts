import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [], setupFiles: [], execArgv: [] } },
  {
    test: {
      include: [
        'test/unit/{chain,coins,db,store,wallet}/*.test.ts',
        'test/unit/shared/policy.test.ts',
        'test/api/accounts/{acting-for-people,lock-account}.test.ts',
        'test/api/{assets,store,wallet}/*.test.ts',
        'test/api/http/idempotency.test.ts',
      ],
    },
  },
)
