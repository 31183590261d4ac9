/** Every call to another process has a timeout. This test reads the source files. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../../src')
const sources = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !/^db\/prisma\/|\/generated\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }))

interface Way {
  begins: RegExp
  needs: RegExp[]
}

const ways: Record<string, Way> = {
  'an HTTP request': { begins: /\bfetch\(/g, needs: [/\bsignal\b/] },
  'a webhook call': { begins: /= request\(url, \{/g, needs: [/\bsignal,/] },
  'a PostgreSQL connection': { begins: /new (?:pg\.|Database)Client\(/g, needs: [/connectionTimeoutMillis/] },
  'a connection pool': { begins: /createPool\(\{/g, needs: [/connectionTimeoutMillis/] },
  'the job queue': { begins: /new PgBoss\(/g, needs: [/connectionTimeoutMillis/, /query_timeout/, /keepAlive: true/] },
  'a request to Kubo': { begins: /\bkubo(\.\w+)+\(/g, needs: [/\bsignal\b/] },
  'a request to S3': { begins: /\bclient\.send\(/g, needs: [/\babortSignal\b/] },
  'a mail server connection': {
    begins: /createTransport\(/g,
    needs: [/streamTransport|connectionTimeout[\s\S]*greetingTimeout[\s\S]*dnsTimeout[\s\S]*socketTimeout/],
  },
  'the delivery of a mail': { begins: /\bsmtp\.sendMail\(/g, needs: [/signal: AbortSignal\.timeout/] },
  'a socket connection': { begins: /= connect\(\{/g, needs: [/signal/] },
}

const lasting = ['db/database.ts', 'db/processes.ts', 'chain/lease.ts']

function callAt(text: string, start: number): string {
  let depth = 0
  for (let at = text.indexOf('(', start); at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0) return text.slice(start, at + 1)
  }
  return text.slice(start)
}

const callsOf = ({ begins }: Way) =>
  sources.flatMap(({ file, text }) =>
    [...text.matchAll(begins)].map(({ index }) => ({ file, call: callAt(text, index) })),
  )

describe.each(Object.entries(ways))('outgoing calls: %s', (_, way) => {
  it('every outgoing call of this kind has a timeout', () => {
    const calls = callsOf(way)
    expect(calls.length).toBeGreaterThan(0)
    const endless = calls.filter(({ call }) => !way.needs.every((need) => need.test(call)))
    expect(endless).toEqual([])
  })
})

it('every long-lived connection uses keepalive and a response timeout', () => {
  const needs = [/query_timeout|watchQueries\(/, /keepAlive: true/, /keepAliveInitialDelayMillis/]
  const text = (file: string) => sources.find((source) => source.file === file)!.text
  expect(lasting.filter((file) => !needs.every((need) => need.test(text(file))))).toEqual([])
})

it('every connection to PostgreSQL is opened with DatabaseClient', () => {
  const own = {
    'db/database-client.ts': 'is that way',
    'embedded/embedded-postgres.ts': 'creates the database on the embedded server',
  }
  const openers = sources.filter(({ text }) => /new (pg\.)?(Client|Pool)\(\{/.test(text) && /from 'pg'/.test(text))
  expect(openers.map(({ file }) => file).sort()).toEqual(Object.keys(own))
  const queues = callsOf(ways['the job queue']!)
  expect(queues.filter(({ call }) => !call.includes('Client: DatabaseClient'))).toEqual([])
})
