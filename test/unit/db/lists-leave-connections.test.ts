import { expect, it } from 'vitest'
import { int, statement } from '../../../src/db/sql.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const LOCK = 4711

const { open } = await createOwnDatabase()
const [holder, database] = [open({ pool: 1 }), open({ pool: 3 })]

const waiting = statement(
  'test_wait_in_list',
  { columns: { n: int }, isList: true },
  `select 1 as n from (select pg_advisory_xact_lock_shared(${LOCK})) as held`,
)
const one = statement('test_one', { columns: { n: int } }, 'select 1 as n')
const hold = statement('test_hold', {}, `select from pg_advisory_xact_lock(${LOCK})`)

it('slow list queries leave connections for other requests, and excess list queries are rejected with a retry time', async () => {
  await holder.transaction(async (query) => {
    await query(hold)
    const lists = Array.from({ length: 6 }, () =>
      database.query(waiting).then(
        () => 'read',
        ({ code, retryAfter }) => ({ code, retryAfter }),
      ),
    )
    const model = database.read.user.findMany({ take: 1, skip: 1 }).catch(({ code }) => code)
    // These reads succeed while all slots for lists are in use.
    expect(await database.query(one)).toEqual([{ n: 1 }])
    expect(await database.read.user.findFirst({ where: { username: 'nobody' } })).toBeNull()
    // The four lists without a slot time out while the first two still wait.
    const refused = await Promise.all(lists.slice(2))
    expect(refused).toEqual(Array(4).fill({ code: 'UNAVAILABLE', retryAfter: 2 }))
    expect(await model).toBe('UNAVAILABLE')
    expect(await database.query(one)).toEqual([{ n: 1 }])
  })
  expect(await database.query(waiting)).toEqual([{ n: 1 }])
  expect(await database.read.user.findMany({ take: 1, skip: 1 })).toEqual([])
})
