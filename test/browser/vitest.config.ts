import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** A separate configuration, because a browser needs as much memory as all other tests. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/browser/*.browser.ts'] } },
)
