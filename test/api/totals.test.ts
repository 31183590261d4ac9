/** Long lists: totals are counted only as far as a page needs, and every page can be reached. */
import { expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { signInAtPages } from './admin/admin-scene.ts'

const ENTRIES = 10_600

const app = await createTestApp()
const user = await app.newUser()
await app.sql(
  `insert into audit_entries (user_id, action) select id, 'session.started' from users, generate_series(1, $2) where username = $1`,
  [user.username, ENTRIES],
)
const all = ENTRIES + 2

const totalAt = async (offset: number) =>
  expectOk(
    await user.graphql('query ($offset: Int) { auditEntries(offset: $offset, first: 10) { totalCount } }', { offset }),
  ).auditEntries.totalCount

it('counts the total up to 10,000, or slightly beyond the current page', async () => {
  expect([await totalAt(0), await totalAt(9_000), await totalAt(9_500), await totalAt(10_500)]).toEqual([
    10_000,
    10_001,
    10_501,
    all,
  ])
})

it('returns a total for a page after the last entry', async () => {
  expect(await totalAt(2_147_483_647)).toBe(all)
})

it('links all pages up to the last entry', async () => {
  const seen = new Set<string>()
  let next: string | null = `${app.url}/api/v3/auth/users/me/audit-entries/?limit=1000`
  for (let pages = 0; next !== null && pages < 20; pages += 1) {
    const { pathname, search } = new URL(next)
    const page = expectOk(await user.rest('GET', pathname + search))
    for (const { id } of page.results) seen.add(id)
    next = page.next
  }
  expect([seen.size, next]).toEqual([all, null])
})

it('shows administrators that a total is incomplete', async () => {
  const admin = await app.admin()
  const { ask } = await signInAtPages(app.url, admin)
  const pageAt = async (offset: number) => (await ask(`/admin/audit?offset=${offset}`)).text
  expect(await pageAt(0)).toContain('>1 to 50 of 10000 or more<')
  expect(await pageAt(10_500)).toMatch(/>10501 to 10550 of 106\d\d</)
})
