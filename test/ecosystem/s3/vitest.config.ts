import { mergeConfig } from 'vitest/config'
import base from '../../../vitest.config.ts'

export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/ecosystem/s3/*.s3.ts'], testTimeout: 600_000, hookTimeout: 1_800_000 } },
)
