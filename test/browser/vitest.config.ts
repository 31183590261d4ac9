import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Apart from the others: a browser takes as much memory as all of them. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/browser/*.browser.ts'] } },
)
