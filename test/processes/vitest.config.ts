import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Apart from the others: each scene starts gateways, commands, servers or chains as processes, and stops, freezes, kills, promotes or upgrades them. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/processes/*.processes.ts'] } },
)
