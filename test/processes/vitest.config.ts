import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Tests that start gateways, commands, servers or chains as processes, or need much computing time. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  {
    test: {
      include: ['test/processes/*.processes.ts'],
      testTimeout: 300_000,
      hookTimeout: 300_000,
    },
  },
)
