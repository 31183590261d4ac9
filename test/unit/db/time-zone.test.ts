/** A database whose server or role has another time zone. Annal still uses UTC. */
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestDatabase } from '../../support/test-database.ts'

const database = await createTestDatabase({ withClock: true })
const operator = new pg.Client({ connectionString: database.url })
await operator.connect()
await operator.query(`alter database ${new URL(database.url).pathname.slice(1)} set timezone = 'America/St_Johns'`)
await operator.end()
const app = await createTestApp({ database })
const admin = await app.admin()

afterEach(() => app.stopClock(null))

it('the statistics count sign-ups per local day, including days with a clock change', async () => {
  await app.stopClock(`'2027-11-12 12:00Z'`)
  const { figures } = expectOk(await admin.graphql('query { figures(days: 10) { days { day } } }'))
  const days = Array.from({ length: 10 }, (_, at) => `2027-11-${String(at + 3).padStart(2, '0')}`)
  expect(figures.days.map(({ day }: { day: string }) => day)).toEqual(days)
})

it('Prisma returns the same timestamps in every time zone', async () => {
  const { prisma, read } = app.installation.database
  const { id } = await app.newUser()
  const wanted = { where: { id }, select: { createdAt: true } }
  expect(await prisma.user.findFirst(wanted)).toEqual(await read.user.findFirst(wanted))
})
