/**
 * Behind a pooler in transaction mode each transaction has another session (decision 50). Code that needs its own session bypasses
 * the pooler. This test searches the sources for code that opens connections, and for SQL whose effect outlives its transaction.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { declaredStatements } from '../support/declared-statements.ts'

const root = new URL('../../src/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/^db\/prisma\/|\/generated\//.test(file))
  .sort()

const OPENS = /\bnew (?:pg\.(?:Client|Pool)|DatabaseClient|PgBoss)\(|\bcreatePool\(\{/

const connections: Record<string, ['shared' | 'own', reason: string]> = {
  'chain/lease.ts': ['own', 'a session bears the name of its holder, and its end ends the lease'],
  'db/database-client.ts': ['own', 'is how the others open theirs'],
  'db/database.ts': ['shared', 'the statements of requests'],
  'db/migrations.ts': ['own', 'the lock of who migrates, and scripts that take their time'],
  'db/new-migration.ts': ['own', 'the lock of Prisma’s engine; for developers'],
  'db/processes.ts': ['own', 'LISTEN'],
  'db/session-settings.ts': ['own', 'checks that sessions are not shared'],
  'embedded/embedded-postgres.ts': ['own', 'creates the database on the embedded server, where no pooler is'],
  'jobs/jobs.ts': ['own', 'looking after the queues may take longer than a request'],
}

const outlives = [
  /\bpg_(?:try_)?advisory_(?:un)?lock(?:_shared|_all)?\s*\(/i,
  /[`'"(;]\s*(?:un)?listen\s+\w/i,
  /[`'";]\s*(?:set|SET|reset|RESET)\s+(?:session\s+|SESSION\s+)?\w+\s*(?:=|to\b|TO\b|`|;)/,
  /\bset_config\s*\([^)]*,\s*false\s*\)/i,
  /\bcreate\s+(?:global\s+|local\s+)?temp(?:orary)?\b|\binto\s+temp(?:orary)?\b/i,
  /\bwith\s+hold\b/i,
  /\bprepare\s+\S+\s+(?:\([^)]*\)\s+)?as\b|\bdeallocate\s/i,
  /\b(?:currval|lastval)\s*\(|[`'";]\s*discard\s+\w|[`'";]\s*load\s+'/i,
]

const within: Record<string, string> = {
  'db/read-compiler/reads.ts': 'prepares, reads and deallocates in one message, which one session executes',
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

it('every database connection declares whether it can be pooled', () => {
  const opening = files.filter((file) => OPENS.test(withoutComments(read(file))))
  expect(opening, 'Say in this test which way it goes').toEqual(Object.keys(connections))
})

it('session-level features of PostgreSQL are used only on dedicated sessions', () => {
  const own = Object.entries(connections).flatMap(([file, [way]]) => (way === 'own' ? [file] : []))
  const found = files.filter((file) => outlives.some((pattern) => pattern.test(withoutComments(read(file)))))
  const unknown = found.filter((file) => !own.includes(file) && !(file in within))
  expect(unknown, 'Give it a session of its own, or let its effect end with its transaction').toEqual([])
  expect(Object.keys(within).filter((file) => !found.includes(file))).toEqual([])
})

it('no SQL statement of a request uses session-level features of PostgreSQL', async () => {
  const statements = await declaredStatements()
  expect(statements.length).toBeGreaterThan(300)
  expect(
    statements.filter(({ text }) => outlives.some((pattern) => pattern.test(`;${text}`))).map(({ name }) => name),
  ).toEqual([])
})

it('no database function or trigger uses session-level features of PostgreSQL', () => {
  const folder = new URL('../../prisma/migrations/', import.meta.url)
  const scripts = globSync('*/*.sql', { cwd: folder }).map((file) => readFileSync(new URL(file, folder), 'utf8'))
  // The scripts run in dedicated sessions. The functions and triggers that they define do not.
  const bodies = scripts.flatMap((script) =>
    [...script.matchAll(/\bAS (\$\w*\$)([\s\S]*?)\1/gi)].map(([, , body]) => body!),
  )
  expect(bodies.length).toBeGreaterThan(5)
  expect(bodies.filter((body) => outlives.some((pattern) => pattern.test(body)))).toEqual([])
})
