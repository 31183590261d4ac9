import { mergeConfig } from 'vitest/config'
import base from '../../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/ecosystem/dashboard/*.dashboard.ts'], testTimeout: 600_000 } },
)
