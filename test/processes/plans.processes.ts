/**
 * No statement of the service costs more because the database has grown (decision 45). All that are declared, and all that both doors and
 * the pages for administrators send when every operation is called with each of its arguments, are planned in a database that the
 * planner takes for one with 10^7 commits, and for one with 10^8: a sequential scan, a filter over what an index finds, or a sort of a set without
 * bound costs ten times as much there. What does and may stands below, with the reason.
 */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { adminShapes, goodAdminRequest } from '../../proofs/harness/fuzz-admin.ts'
import { goodGraphQLRequest, goodVariants, graphqlShapes } from '../../proofs/harness/fuzz-graphql.ts'
import { goodRestRequest, restShapes } from '../../proofs/harness/fuzz-rest.ts'
import { type FuzzScene, openFuzzScene } from '../../proofs/harness/fuzz-scene.ts'
import { allStatements } from '../../src/domain/sql.ts'
import { readsApart } from '../contract/shard-keys.ts'
import { createShardPlans } from '../contract/shard-plans.ts'
import { declaredStatements } from '../support/declared-statements.ts'
import { type Growth, grow, type Snapshot, takeSnapshot } from '../support/grown-database.ts'
import { costOf, describeDearest, planOf, tablesReadWhole } from '../support/grown-plans.ts'
import { createSeededDatabase } from '../support/seeded-database.ts'
import { createTestApp } from '../support/test-app.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { PASSWORD } from '../support/user.ts'

/** Of which there are a few whatever happens, or as many as administrators make. */
const small: Record<string, string> = {
  network_apps: 'made by administrators',
  api_keys: 'made by administrators',
  admin_sessions: 'of administrators',
  settings: 'facts about the installation',
  leases: 'one for each kind of work',
  processes: 'those that live',
  held_places: 'streams that are open',
  unpaid_bytes: 'who has uploads under way',
  limits: 'windows that have not ended',
  setbacks: 'what goes wrong and waits',
  timelines: 'one for each change of the primary',
  withdrawals_of_sight: 'thirty-two counters',
  read_positions: 'who wrote in the last seconds',
  kept_figures: 'one for each ten minutes, however much happens in them',
  coin_balances: 'one row',
  migration_progress: 'one row',
  _prisma_migrations: 'one row for each',
}

/** What a person has, or is one of: the growth of everything else makes these no more. */
const things = new Set([
  ...['users', 'wallets', 'user_keys', 'access_tokens', 'one_time_tokens', 'pictures'],
  ...['assets', 'asset_blocks', 'asset_links', 'watched_assets'],
])

/** An operator has everything checked, at the command line. */
const isAnyway = /^(invariant|check|compare)_/
const isLarge = (table: string) => !isSmall(table) && snapshot.relations.some(({ name }) => name === table)
const isSmall = (table: string) => Object.hasOwn(small, table)

/** From 10^4 commits. */
const growths: Record<string, { what: string; before: Growth; after: Growth }> = {
  people: {
    what: 'ten times as many people, each with as much',
    before: (table) => (isSmall(table) ? 1 : 1_000),
    after: (table) => (isSmall(table) ? 1 : 10_000),
  },
  history: {
    what: 'ten times as much of the same people',
    before: (table) => (isSmall(table) ? 1 : things.has(table) ? 10 : 1_000),
    after: (table) => (isSmall(table) ? 1 : things.has(table) ? 10 : 10_000),
  },
}

/** Ten times as much may cost so many times. */
const MOST = 1.3
/** What costs less reads no more than a page. */
const PAGE_COST = 150

/** By their texts, what statements are called. */
const statements = new Map<string, string>()
for (const { name, text } of await declaredStatements()) statements.set(text, name)

/** By the statement: why it may cost more in a larger database. */
const exceptions = new Map<string, string>()
const because = (reason: string, ...names: readonly string[]) => {
  for (const name of names) exceptions.set(name, reason)
}
because(
  'an operator has everything checked, at the command line',
  ...allStatements().flatMap(({ name }) => (isAnyway.test(name) ? [name] : [])),
)
because(
  'an operator asks at the command line',
  ...['foreign_recorders', 'foreign_state', 'keys_count_all', 'keys_count_wrapped', 'kept_tree', 'session_end_all'],
)
because('counts, and is asked for a count alone', 'statement_count')
because(
  'looks at a hundred wallets, and where each had many deposits, the planner supposes that many were not gathered',
  'coins_has_work',
)
because(
  'counts minutes that are not kept, of which the planner cannot tell how much happened in them: what it joins is looked up by keys',
  'figures_days',
  'figures_keep',
)
because(
  'once, where the chain is another one or displaced blocks; of what came after a block the planner takes a third',
  ...['deposits_back', 'deposits_freeze', 'coins_moves'],
)
because(
  'asks for a part of the nonces of an account, or of the keys of a sender, whose length the planner does not know',
  'relay_nonces',
  'deletion_answers',
)
because('steps over as many rows as there are keys, which the planner does not know', 'vault_lacking')
because('reads a page, between whose rows the planner supposes many others', 'blocks_next')
because('reads a page, which the smaller history did not fill, and for each row one by its key', 'export_withdrawals')
because('looks through the moves of treasuries that were, where there were any', 'coins_earlier_treasuries')
because('an account is locked: what stands behind that in its trail is little', 'user_search')
because('the addresses that somebody has given and not verified', 'account_awaiting')
because(
  'sums what stands between a page and the nearest balance that is noted, some hundred transfers, which the planner does not know',
  ...['statement_page', 'statement_page_up', 'statement_line'],
)
because('reads the history of one asset, for which its owner paid commit by commit', ...['trees_find', 'relay_foreign'])
because(
  'deletes what somebody has, or reads all of it, once',
  ...[
    'asset_delete',
    'asset_erase_histories',
    'deletion_close',
    'deletion_empty',
    'deletion_erase',
    'deletion_foreseen',
    'deletion_tokens',
    'deletion_trail',
    'relay_mark_final',
  ],
)
because(
  'sums what came in at one address',
  ...[
    'balances_settle',
    'balances_wallets',
    'coins_lying',
    'coins_own_lying',
    'coins_resumable',
    'coins_resume',
    'coins_sign_anew',
    'coins_store_gathering',
    'coins_strand',
  ],
)
because(
  'reads what others wrote to a file, or a page of files, of which a bounded part is kept',
  ...['foreign_note', 'foreign_note_past', 'foreign_unwatch'],
)
because('reads grants that have not ended', 'grants_close')

/** By the statement: why it may read a large table from its beginning to its end. */
const wholeReaders: Record<string, string> = {
  coins_earlier_treasuries: 'once, when the work with coins begins',
  deposits_back: 'once, where the chain has displaced blocks',
  foreign_recorders: 'an operator asks at the command line',
  keys_count_all: 'an operator asks at the command line',
  session_end_all: 'an operator ends all sessions at the command line',
  registry_replace_unused: 'stops at the first row that there is',
}

/** A `totalCount`: it is documented to count, and only when it is asked for. */
const isCount = (called: string) => /: select count\(\*\)::text from "\w+" t1 where /.test(called)
/** One that is counted no further than a page needs. */
const isCountedSoFar = (called: string) =>
  /: select count\(\*\)::text from \(select from .* limit \$\d+\) counted$/.test(called)

const app = await createTestApp({
  withChain: true,
  env: {
    LIMIT_REQUESTS_PER_TOKEN: '1000000',
    LIMIT_REQUESTS_PER_IP: '1000000',
    LIMIT_UPLOADS_PER_USER: '1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
  },
})

/** What the service sends, under the operation that it was sent for first. */
const sent = new Map<string, string>()
let target = ''
const original = pg.Client.prototype.query
const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function query(
  this: pg.Client,
  ...args: unknown[]
) {
  const [config] = args as [string | { text?: string }]
  const text = typeof config === 'string' ? config : (config.text ?? '')
  const { connectionParameters } = this as unknown as { connectionParameters: { application_name?: string } }
  const isRead = /^\s*(with|select|insert|update|delete)\b/i.test(text)
  if (target && isRead && connectionParameters.application_name === 'annal' && !sent.has(text)) sent.set(text, target)
  return (original as (...all: unknown[]) => unknown).apply(this, args)
} as never)

/** What did cost more. */
const grown = new Set<string>()
/** What reads a large table whole. */
const readingWhole = new Map<string, string[]>()
let own: pg.Client
let scene: FuzzScene
let database: TestDatabase
let client: pg.Client
let snapshot: Snapshot

beforeAll(async () => {
  own = new pg.Client({ connectionString: app.env.DATABASE_URL })
  await own.connect()
  scene = await openFuzzScene({
    url: app.url,
    async newUser(role) {
      const user = await app.newUser({ role, num: '1000' })
      return { ...user, password: PASSWORD }
    },
    sql: async (text, values) => (await own.query(text, values)).rows as never,
  })
})

beforeAll(async () => {
  ;({ database, client } = await createSeededDatabase())
  // Otherwise pages come from the disk more often in the larger one, which is nothing that a statement could mend.
  await client.query(`set effective_cache_size = '8TB'; set plan_cache_mode = force_generic_plan`)
  snapshot = await takeSnapshot(client)
})

afterAll(async () => {
  spy.mockRestore()
  await own.end()
  await client.end()
  await database.drop()
})

describe('What is sent', () => {
  afterEach(() => {
    target = ''
  })

  it.each(graphqlShapes)('for $target is recorded', async (shape) => {
    target = shape.target
    const { text } = await scene.send(goodGraphQLRequest(shape))
    const cursor = /"endCursor":"([^"]+)"/.exec(text)?.[1]
    for (const request of goodVariants(shape, cursor)) await scene.send(request)
  })

  it.each([...restShapes.map(goodRestRequest), ...adminShapes.map(goodAdminRequest)])(
    'for $target is recorded',
    async (request) => {
      target = request.target
      await scene.send(request)
    },
  )

  it('holds reads of both doors beside the statements that are declared', () => {
    const reads = [...sent].filter(([text]) => !statements.has(text))
    expect(reads.length).toBeGreaterThan(100)
    for (const [text, target] of reads) statements.set(text, `${target}: ${text}`)
  })
})

describe('A read of either door', () => {
  it('is carried out in one database, if people were spread over several, or is named with what it would become', async () => {
    const explain = await createShardPlans(client)
    const apart = new Set(Object.values(readsApart).flatMap(({ of }) => of))
    const found = new Set<string>()
    const unnamed: string[] = []
    for (const [text, called] of statements) {
      const [sender] = called.split(': ')
      if (sender === called) continue
      const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place)))
      const key = await explain(
        text,
        Array.from({ length: count }, (_, n) => `$${n + 1}`),
      )
      if (key !== undefined) continue
      found.add(sender!)
      if (!apart.has(sender!)) unnamed.push(called)
    }
    expect(unnamed, 'Name who sends these in `readsApart`, with what they would become').toEqual([])
    expect(found).toEqual(apart)
  })
})

describe('A grown database', () => {
  it('is planned for with all that it holds', () => {
    const empty = snapshot.relations.filter(({ isIndex, rows, name }) => !isIndex && rows <= 0 && !isSmall(name))
    expect(empty.map(({ name }) => name)).toEqual([])
  })

  it.each(Object.keys(growths))('costs no statement more: %s', async (name) => {
    const { before, after } = growths[name]!
    await grow(client, snapshot, before)
    const costs = new Map<string, number>()
    for (const text of statements.keys()) costs.set(text, costOf(await planOf(client, text)))
    await grow(client, snapshot, after)
    const complaints: string[] = []
    for (const [text, called] of statements) {
      const plan = await planOf(client, text)
      // Where people are many, so is everything.
      const whole = name === 'people' && !isCountedSoFar(called) ? tablesReadWhole(plan).filter(isLarge) : []
      if (whole.length > 0) readingWhole.set(called, whole)
      const [small, large] = [costs.get(text)!, costOf(plan)]
      if (large <= PAGE_COST || large <= MOST * small || isCount(called)) continue
      grown.add(called)
      if (!exceptions.has(called))
        complaints.push(
          `${called}: ${Math.round(small)} → ${Math.round(large)}\n  ${describeDearest(plan).join('\n  ')}`,
        )
    }
    expect(complaints.join('\n')).toBe('')
  })

  it('is read whole by no statement', () => {
    const reading = [...readingWhole].filter(([called]) => !isAnyway.test(called))
    expect(Object.fromEntries(reading.filter(([called]) => !Object.hasOwn(wholeReaders, called)))).toEqual({})
    expect(Object.keys(wholeReaders).filter((called) => !readingWhole.has(called))).toEqual([])
  })

  it('has no exception that nothing needs', () => {
    expect([...exceptions.keys()].filter((name) => !grown.has(name) && !isAnyway.test(name))).toEqual([])
  })
})
