/** Trouble in the middle of requests that carry secrets: what is said of it is what tells too much. */
import { boolean, int, statement } from '../../src/domain/sql.ts'
import { until } from '../../test/support/eventually.ts'
import type { Scene } from './leak-scene.ts'
import { createDoors, type Story } from './leak-story.ts'
import { runSql } from './run-sql.ts'

const TABLES = [
  'access_tokens',
  'users',
  'orders',
  'network_apps',
  'api_keys',
  'one_time_tokens',
  'idempotency_keys',
  'limits',
]

const cut = statement(
  'proof_cut',
  { columns: { pg_terminate_backend: boolean } },
  `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'proof_gateway'`,
)
const countOpen = statement(
  'proof_disturbed_commits',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status <> 'FINAL'`,
)

export async function disturb(scene: Scene, { session, email }: Story): Promise<{ count: number; reasons: string[] }> {
  const { parts, canaries, transcript, chain } = scene
  const { rest } = createDoors(scene)
  const { database } = parts
  const textOf = (name: string) => canaries.get(name)!.text
  const before = transcript.exchanges.length
  const trusted = { ...session, 'x-api-key': textOf('API key') }
  const [app] = (await rest('store/network-apps/', undefined, session, [], 'GET').then((got) => got.body.results)) as {
    id: string
  }[]
  let serial = 0
  const everything = () => {
    serial += 1
    const key = { 'idempotency-key': `${textOf('idempotency key')} ${serial}` }
    const password = textOf('reset password by the page')
    const order = { network_app: app!.id, action_args: { token: textOf('live token') } }
    return Promise.all([
      rest('auth/token/login/', { email, password }, {}, ['access token of trouble']),
      rest('auth/users/', { username: `late${serial}`, email: `late${serial}@example.org`, password }, key),
      rest('auth/users/set_password/', { current_password: password, new_password: password }, session),
      rest('store/api-keys/', { name: `late ${serial}` }, { ...session, ...key }),
      rest(
        'store/network-apps/',
        { name: `late ${serial}`, price_mode: 'fixed', price: '1', webhook_url: 'https://example.org/' },
        { ...session, ...key },
      ),
      rest('store/network-app-orders/', order, { ...trusted, ...key }, ['live token']),
      rest('auth/users/reset_password/', { email }),
    ])
  }

  // The database refuses every row, and tells the row.
  for (const table of TABLES) {
    await runSql(database, `alter table ${table} add constraint proof_refuses check (false) not valid`)
    await everything()
    await runSql(database, `alter table ${table} drop constraint proof_refuses`)
  }
  const refused = transcript.exchanges.slice(before).filter(({ status }) => status >= 500).length

  // Its connections end while they are used.
  let cuts = 0
  for (let round = 0; round < 5; round += 1) {
    const asking = everything().catch(() => undefined)
    cuts += (await database.query(cut)).length
    await asking
  }

  // The node drops what it is sent.
  let dropped = 0
  chain.ambush = (moment) => {
    if (moment === 'before') dropped += 1
    return moment === 'before'
  }
  await until(
    'the gateway serves again',
    async () => {
      const got = await rest('assets/', undefined, session, [], 'GET')
      if (got.status !== 200) return undefined
      const [asset] = got.body.results as { id: string }[]
      return (await rest(`assets/${asset!.id}/`, { caption: 'z' }, session, [], 'PATCH')).status === 200
    },
    30_000,
    100,
  )
  await until('the node dropped a transaction', () => dropped >= 3, 30_000, 50)
  chain.ambush = undefined
  await until('every commit is final', async () => (await database.query(countOpen))[0]!.count === 0, 60_000, 100)

  const reasons = Object.entries({
    'rows were refused': refused,
    'connections were cut': cuts,
    'transactions were dropped': dropped,
  })
    .filter(([, count]) => count === 0)
    .map(([what]) => `No ${what}: the run is invalid.`)
  return { count: refused + cuts + dropped, reasons }
}
