/** The SQL function `enqueue` and pg-boss, whose table it writes. */
import { createRequire } from 'node:module'
import { PgBoss } from 'pg-boss'
import { describe, expect, it } from 'vitest'
import { prepareDatabase } from '../../../src/db/migrations.ts'
import { writtenFor } from '../../../src/jobs/jobs.sql.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

interface Manifest {
  version: string
  pgboss: { schema: number }
}

const { url, client } = await createOwnDatabase()

const query = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await client.query<Row>(text, values)).rows

describe('enqueue function', () => {
  it('the enqueue function matches the installed version of pg-boss', () => {
    const { version, pgboss } = createRequire(import.meta.url)('pg-boss/package.json') as Manifest
    expect(
      { pgBoss: version, tables: pgboss.schema },
      'pg-boss was updated. Compare its insertJobs (dist/plans.js) with src/jobs/jobs.sql.ts, see that the next test passes, and write down the new version there.',
    ).toEqual(writtenFor)
  })

  it('the enqueue function sets the same job fields as pg-boss, except for scheduled tasks', async () => {
    const boss = new PgBoss({ connectionString: url, schema: 'jobs', migrate: false, supervise: false, max: 1 })
    await boss.start()
    const queues = await query<{ name: string }>(
      `select name from jobs.queue where name not like '\\_\\_%' and policy <> 'exclusive'`,
    )
    expect(queues.length).toBeGreaterThan(5)
    const startAfter = new Date('2030-01-01T00:00:00.123Z')
    const jobsOf = (ids: unknown[]) =>
      query(
        `select to_jsonb(job) - array['id', 'created_on'] as filled_in, created_on > now() - interval '1 minute' as is_new
         from jobs.job where id = any ($1::uuid[]) order by name, group_id nulls first`,
        [ids],
      )
    const [ours, theirs]: [unknown[], unknown[]] = [[], []]
    for (const { name } of queues) {
      const data = { deliveryId: name, nested: { list: [1, 'two', null] } }
      theirs.push(await boss.send(name, data, { startAfter, group: { id: 'app' } }))
      const made = await query<{ id: string }>('select enqueue($1, $2, lane => $3, due => $4) as id', [
        name,
        JSON.stringify(data),
        'app',
        startAfter,
      ])
      ours.push(made[0]!.id)
    }
    await boss.stop({ graceful: false })
    const jobs = await jobsOf(ours)
    expect(jobs).toHaveLength(queues.length)
    expect(jobs).toEqual(await jobsOf(theirs))
  })

  it('an enqueued job is due immediately and has no lane by default', async () => {
    const [made] = await query<{ id: string }>(`select enqueue('mail', '{}') as id`)
    const jobs = await query(
      `select group_id, start_after between now() - interval '1 minute' and now() as is_due from jobs.job where id = $1::uuid`,
      [made!.id],
    )
    expect(jobs).toEqual([{ group_id: null, is_due: true }])
  })

  it('the enqueue function rejects an unknown queue', async () => {
    await expect(query(`select enqueue('mails', '{}')`)).rejects.toThrow('There is no job queue mails')
  })
})

describe('enqueue function at start-up', () => {
  const sourceOf = async () =>
    (await query<{ source: string }>(`select prosrc as source from pg_proc where proname = 'enqueue'`)).map(
      ({ source }) => source,
    )
  const replace = () =>
    query(`create or replace function enqueue(queue text, payload jsonb, lane text default null, due timestamptz default now())
      returns uuid language sql as 'select uuidv7()'`)

  it('creates or replaces the enqueue function at start-up, even if several processes start together', async () => {
    const source = await sourceOf()
    await query('drop function enqueue')
    await Promise.all([prepareDatabase(url), prepareDatabase(url)])
    expect(await sourceOf()).toEqual(source)
    await replace()
    await Promise.all([prepareDatabase(url), prepareDatabase(url)])
    expect(await sourceOf()).toEqual(source)
  })

  it('keeps the enqueue function of a newer version at start-up', async () => {
    await replace()
    await query('update jobs.version set version = version + 1')
    await prepareDatabase(url)
    expect(await sourceOf()).toEqual(['select uuidv7()'])
    await query('update jobs.version set version = version - 1')
    await prepareDatabase(url)
    expect(await sourceOf()).not.toEqual(['select uuidv7()'])
  })
})
