import { mkdtemp, open, rm, unlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { growth, heldNow } from '../support/held-resources.ts'

/** Opens one thing of a kind, and returns the way to close it. */
const openings: [string, RegExp, () => Promise<() => unknown>][] = [
  [
    'a server',
    /^server on /,
    async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return () => server.close()
    },
  ],
  [
    'a connection to the database',
    /^connection (by a Unix socket|from port )/,
    async () => {
      const url = new URL(inject('templateUrl'))
      url.pathname = '/postgres'
      const client = new pg.Client({ connectionString: url.href })
      await client.connect()
      return () => client.end()
    },
  ],
  [
    'timers',
    /^Timeout$/,
    async () => {
      const timers = [1, 2, 3].map(() => setInterval(() => {}, 60_000))
      return () => timers.forEach(clearInterval)
    },
  ],
  [
    'a temporary folder',
    /^temporary file annal-left-/,
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'annal-left-'))
      return () => rm(dir, { recursive: true })
    },
  ],
  [
    'a file without a name',
    /^descriptor of .*deleted/,
    async () => {
      const path = join(tmpdir(), 'annal-nameless')
      const handle = await open(path, 'w')
      await unlink(path)
      return () => handle.close()
    },
  ],
  [
    'a listener',
    /^listener for SIGTERM$/,
    async () => {
      const listener = () => {}
      process.on('SIGTERM', listener)
      return () => process.off('SIGTERM', listener)
    },
  ],
]

it.each(openings)('the ledger sees %s until it is closed', async (_, name, begin) => {
  const before = heldNow(tmpdir())
  const grown = () => growth(before, heldNow(tmpdir()), {}).filter((each) => name.test(each))
  const end = await begin()
  expect(grown().length).toBeGreaterThan(0)
  await end()
  await eventually(grown, (left) => left.length === 0)
})
