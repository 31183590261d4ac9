import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/**
 * Apart from the others: scenes that start gateways, commands, servers or chains as processes, and stop, freeze, kill, promote or upgrade them,
 * and those that need much computing, so that `npm test` stays short.
 */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  {
    test: {
      include: ['test/processes/*.processes.ts'],
      // One alone takes half a minute on two quiet processors.
      testTimeout: 300_000,
      hookTimeout: 300_000,
    },
  },
)
