/** Histories of a relay account whose key was replaced later. */
import pg from 'pg'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createRelayAccount } from '../../../src/chain/keys.ts'
import { quantity } from '../../../src/chain/rpc.ts'
import { annalHere } from '../../support/annal-command.ts'
import { startChain } from '../../support/chain/anvil.ts'
import { until } from '../../support/eventually.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestDatabase } from '../../support/test-database.ts'

const chain = await startChain({ args: ['--block-time', '0.2'] })
afterAll(() => chain.stop())
const app = await createTestApp({ rpcUrl: chain.url, withChain: true })
const account = createRelayAccount(app.env.CHAIN_RELAY_KEYS!).address
await chain.rpc.call('anvil_setBalance', account, quantity(100n * 10n ** 18n))
const ANOTHER_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

async function registered(): Promise<string> {
  const user = await app.newUser({ num: '10' })
  const { id } = await user.register()
  const history = () => user.rest('GET', `assets/${id}/history/`)
  await until('the commit is final', async () => (await history()).body.commits[0].status === 'final')
  return id
}

it('verifies commits of a previous relay account without configuring that account', async () => {
  const said = await annalHere({ ...app.env, CHAIN_RELAY_KEYS: ANOTHER_KEY }, ['verify', await registered(), '--json'])
  expect(JSON.parse(said.stdout)).toMatchObject({ verdict: 'holds', commits: [{ recorder: account }], foreign: 0 })
  expect(said.code).toBe(0)
})

it('`annal check` reports commits of a previous relay account that are missing from a restored database', async () => {
  const id = await registered()
  const before = await createTestDatabase()
  onTestFinished(() => before.drop())
  const client = new pg.Client({ connectionString: before.url })
  await client.connect()
  for (const { key, value } of await app.sql('select key, value from key_values'))
    await client.query('insert into key_values (key, value) values ($1, $2) on conflict do nothing', [key, value])
  await client.end()
  const env = { ...app.env, DATABASE_URL: before.url, CHAIN_RELAY_KEYS: ANOTHER_KEY }
  const check = async (more: Record<string, string>) => {
    const { stdout } = await annalHere({ ...env, ...more }, ['check', '--json'])
    const findings = JSON.parse(stdout) as { id: string; rows: { about?: string }[] }[]
    return findings.find((finding) => finding.id === 'H4')!.rows.filter(({ about }) => about?.includes(id))
  }
  expect(await check({})).toEqual([])
  expect(await check({ CHAIN_EARLIER_RELAYS: account.toLowerCase() })).toHaveLength(1)
})
