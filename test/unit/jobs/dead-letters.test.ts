/** Dead letters stay for a year. Queries on jobs use an index and do not read all of them. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { valuesOf } from '../../../src/db/sql.ts'
import { countWaiting, findDead, findUnredacted, makeLastAttempt } from '../../../src/jobs/jobs.sql.ts'
import { eraseResponses } from '../../../src/modules/accounts/delete-account.sql.ts'
import { readState } from '../../../src/telemetry/metrics.sql.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const MANY = 20_000
const ADDRESSED = 10_000
const WAITING = 10
/** Maximum number of PostgreSQL pages that a query may read. */
const FEW = 100

const user = randomUUID()
const { client } = await createOwnDatabase()

const letters = (count: number, data: string) => `
  insert into jobs.job (name, data, created_on, keep_until, source_name)
  select 'dead-letter', ${data}, now() - n * interval '1 minute', now() + interval '1 year', 'mail' from generate_series(1, ${count}) as n`

beforeAll(async () => {
  await client.query(`
    insert into jobs.job (name, data, state, created_on, completed_on, keep_until)
    select 'webhook-delivery', jsonb_build_object('deliveryId', gen_random_uuid()), 'completed', now(), now(), now() + interval '1 day'
    from generate_series(1, ${MANY})`)
  await client.query(letters(MANY, `jsonb_build_object('userId', gen_random_uuid(), 'template', 'order-paid')`))
  const addressed = (userId: string) =>
    `jsonb_build_object('userId', ${userId}, 'template', 'email-changed', 'email', n || '@example.org')`
  await client.query(letters(ADDRESSED, addressed('gen_random_uuid()')))
  await client.query(letters(2, addressed(`'${user}'`)))
  await client.query(`
    insert into jobs.job (name, data, state, start_after, keep_until)
    select 'webhook-delivery', '{}', 'retry', now() + interval '1 hour', now() + interval '1 day' from generate_series(1, ${WAITING})`)
  await client.query(`
    insert into jobs.job (name, data, state, started_on, keep_until)
    values ('webhook-delivery', '{}', 'active', now(), now() + interval '1 day')`)
  await client.query('vacuum analyze jobs.job')
  await client.query('set plan_cache_mode = force_generic_plan')
})

/** Returns the rows of a statement and the number of pages that it reads. */
async function ask(text: string, values: unknown[]) {
  await client.query('begin')
  const { rows: plans } = await client.query(`explain (analyze, buffers, format json) ${text}`, values)
  await client.query('rollback')
  const { Plan: plan } = plans[0]['QUERY PLAN'][0]
  const { rows } = await client.query(text, values)
  return { rows, pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] }
}

describe('queries among 20,000 dead letters', () => {
  it('finds dead letters with unredacted data quickly among 20,000 dead letters', async () => {
    const { rows, pages } = await ask(findUnredacted, [20])
    expect(rows).toHaveLength(20)
    expect(pages).toBeLessThan(FEW)
  })

  it('lists the newest dead letters quickly among 20,000 dead letters', async () => {
    const { rows, pages } = await ask(findDead.text, valuesOf(findDead, { limit: 5 }))
    expect(rows).toHaveLength(5)
    expect(pages).toBeLessThan(FEW)
  })

  it('records the last attempt of a job quickly among 20,000 dead letters', async () => {
    const { pages } = await ask(makeLastAttempt, ['mail', randomUUID()])
    expect(pages).toBeLessThan(FEW)
  })

  it('counts pending and running jobs quickly among 20,000 dead letters', async () => {
    const { rows, pages } = await ask(countWaiting.text, [])
    expect(rows).toMatchObject([{ queue: 'webhook-delivery', count: WAITING + 1 }])
    expect(pages).toBeLessThan(FEW)
  })

  it('a metrics scrape counts 20,000 dead letters by queue quickly', async () => {
    const { rows, pages } = await ask(readState.text, [])
    expect(rows).toContainEqual({ metric: 'annal_jobs_dead', label: 'mail', state: null, value: MANY + ADDRESSED + 2 })
    expect(rows).toContainEqual({ metric: 'annal_jobs', label: 'webhook-delivery', state: 'retry', value: WAITING })
    // One index entry per dead letter.
    expect(pages).toBeLessThan(FEW + MANY / 100)
  })

  it('removes the addresses of a deleted account quickly from 20,000 dead letters', async () => {
    const { pages } = await ask(eraseResponses.text, valuesOf(eraseResponses, { user }))
    expect(pages).toBeLessThan(FEW)
    const { rows } = await client.query(`select data from jobs.job where data->>'userId' = $1`, [user])
    expect(rows.map(({ data }) => data)).toEqual([
      { userId: user, template: 'email-changed', isCut: true },
      { userId: user, template: 'email-changed', isCut: true },
    ])
  })
})
