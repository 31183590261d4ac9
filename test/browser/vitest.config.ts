import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** Apart from the others: these need a browser, which npm cannot install. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [] } },
  { test: { include: ['test/browser/*.browser.ts'] } },
)
