/** To put the marks of one letter into their order takes the square of their number: seconds for 100 KB, minutes for a megabyte. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '../../src')

/** What bounds the text before, by the file. */
const bounds: Record<string, string> = {
  'domain/account/username.ts': 'lengthProblem, of whatever is sent as a username',
  'domain/store/network-app-input.ts': 'requiredName(100)',
  'domain/store/network-app-service.ts': 'text(100) of networkAppFilter',
  'domain/store/order-input.ts': 'text(100)',
}

it('text gets a normal form (NFC, NFKC) only where something has bounded its length', () => {
  const files = globSync('**/*.{ts,js}', { cwd: src }).filter((file) => !/generated|prisma/.test(file))
  expect(files.length).toBeGreaterThan(500)
  const those = files.filter((file) => /\.normalize\(/.test(readFileSync(join(src, file), 'utf8')))
  expect(those.sort()).toEqual(Object.keys(bounds).sort())
})
