import { describe, expect, it } from 'vitest'
import { add, fromUnits, toUnits } from '../../../src/shared/money.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()

const entries = (user: SignedIn) =>
  app.sql<{ account: string; currency: string; amount: string }>(
    `select coalesce(e.book::text, 'wallet') as account, e.currency::text, trim_scale(e.amount)::text as amount
     from entries e join transfers t on t.id = e.transfer_id
     where t.reference like 'commit:%' and t.id in (
       select t2.id from transfers t2 join commits c on t2.reference = 'commit:' || c.id where c.author_id = $1::uuid)
     order by t.id, e.position`,
    [user.id],
  )

const register = (user: SignedIn) => user.rest('POST', 'assets/', { multipart: { asset_file: newFile() } })

describe('charges of 0.179', () => {
  it.each([
    ['points alone', '12', '5', '11.821', '5'],
    ['all remaining points', '0.179', '0', '0', '0'],
    ['units alone', '0', '5', '0', '4.821'],
    ['all remaining units', '0', '0.179', '0', '0'],
    ['points first, then units', '0.05', '5', '0', '4.871'],
    ['points for the fee and part of the gas, units for the rest', '0.15', '0.029', '0', '0'],
    ['points for exactly the fee', '0.1', '0.079', '0', '0'],
    ['the smallest unit of points', '0.000000000000000001', '0.178999999999999999', '0', '0'],
    ['amounts that no double can hold', '1000000000.000000000000000001', '0', '999999999.821000000000000001', '0'],
  ])('pays a charge of 0.179 with %s', async (_, points, num, pointsLeft, numLeft) => {
    const user = await app.newUser({ points, num })
    expect((await register(user)).status).toBe(201)
    expect(await app.wallet(user)).toEqual({ points: pointsLeft, num: numLeft })
    const booked = await entries(user)
    const sum = (account: string, currency?: string) =>
      fromUnits(
        booked
          .filter((e) => e.account === account && (!currency || e.currency === currency))
          .reduce((total, e) => total + toUnits(e.amount), 0n),
      )
    expect([sum('REVENUE'), sum('GAS'), sum('wallet')]).toEqual(['0.1', '0.079', '-0.179'])
    for (const currency of ['POINTS', 'NUM'])
      expect(add(sum('REVENUE', currency), sum('GAS', currency), sum('wallet', currency))).toBe('0')
  })

  it.each([
    ['if the points are one smallest unit short', '0.178999999999999999', '0', '0.000000000000000001'],
    ['if the units are one smallest unit short', '0', '0.178999999999999999', '0.000000000000000001'],
    ['if points and units together are one smallest unit short', '0.1', '0.078999999999999999', '0.000000000000000001'],
    ['if the wallet is empty', '0', '0', '0.179'],
  ])('rejects a charge of 0.179 %s, and stores nothing', async (_, points, num, missing) => {
    const user = await app.newUser({ points: points === '0' ? '1' : points, num })
    if (points === '0') await spendAll(user)
    const { body } = expectError(await register(user), 'ASSET_COMMIT_INSUFFICIENT_FUND')
    expect(body.error.details).toContain(`missing ${missing}.`)
    expect(body.error.details).toMatch(/: 0\.179$/)
    expect(await app.wallet(user)).toEqual({ points, num })
    expect(await entries(user)).toEqual([])
    expect(await app.sql('select 1 from assets where owner_id = $1::uuid', [user.id])).toEqual([])
  })

  async function spendAll(user: SignedIn) {
    await app.sql(
      `with paid as (update wallets set points = 0 where user_id = $1::uuid returning user_id),
       moved as (insert into transfers (reference) select 'forfeit:' || user_id from paid returning id)
       insert into entries (transfer_id, position, wallet_id, book, currency, amount)
       select moved.id, line.* from moved, paid, lateral (values
         (1, paid.user_id, null::book, 'POINTS'::currency, -1::numeric), (2, null, 'FORFEITED', 'POINTS', 1)) as line`,
      [user.id],
    )
  }

  it('rejects an update if the wallet is one unit short, and leaves the asset unchanged', async () => {
    const user = await app.newUser({ points: '0.357999999999999999' })
    const { id } = expectOk(await register(user))
    expectError(
      await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Unpaid' } }),
      'ASSET_COMMIT_INSUFFICIENT_FUND',
    )
    expect(expectOk(await user.rest('GET', `assets/${id}/`)).caption).toBe('')
    expect(await app.commitCount(id)).toBe(1)
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: {} }))
  })
})

describe('concurrent charges', () => {
  it('twenty concurrent updates of one asset create commits without sequence gaps and exact charges', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: { [`key${i}`]: i } } }),
      ),
    )
    expect(answers.map(codeOf)).toEqual(Array(20).fill(undefined))
    const commits = await app.sql<{ sequence: number }>(
      'select sequence from commits c join assets a on a.id = c.asset_id where nid = $1 order by 1',
      [id],
    )
    expect(commits.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1))
    expect(await app.wallet(user)).toEqual({ num: '0', points: '8.241' })
    // No update was lost: each added its key to the previous result.
    const expected = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`key${i}`, i]))
    expect(expectOk(await user.rest('GET', `assets/${id}/`)).nit_commit_custom).toEqual(expected)
  })

  it('charges a wallet for exactly the six of twelve concurrent updates that it can pay', async () => {
    // One registration and six updates use the whole balance.
    const user = await app.newUser({ points: '1', num: '0.253' })
    const { id } = await user.register()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        user.rest('PATCH', `assets/${id}/`, { json: { nit_commit_custom: { [`key${i}`]: i } } }),
      ),
    )
    const codes = answers.map(codeOf)
    expect(codes.filter((code) => code === undefined)).toHaveLength(6)
    expect(codes.filter((code) => code === 'ASSET_COMMIT_INSUFFICIENT_FUND')).toHaveLength(6)
    expect(await app.commitCount(id)).toBe(7)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  })

  it('a concurrent update and deletion charge only the accepted commits, and the asset stays deleted', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const [update, remove] = await Promise.all([
      user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Late' } }),
      user.rest('DELETE', `assets/${id}/`),
    ])
    expect(remove.status).toBe(204)
    expect([undefined, 'NOT_FOUND']).toContain(codeOf(update))
    const points = { 1: '11.821', 2: '11.642' }[await app.commitCount(id)]
    expect(await app.wallet(user)).toEqual({ num: '0', points })
    expect(await app.sql('select caption from assets where nid = $1', [id])).toEqual([{ caption: '' }])
    expectError(await user.rest('GET', `assets/${id}/`), 'NOT_FOUND')
  })
})
