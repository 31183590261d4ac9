import { mergeConfig } from 'vitest/config'
import base from '../../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/ecosystem/kubo/*.kubo.ts'], testTimeout: 600_000, hookTimeout: 3_600_000 } },
)
