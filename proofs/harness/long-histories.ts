/** Somebody with a history of a million rows: a deleted asset, a wallet full of grants that are over, and an account that is read and deleted. */
import { arrayOf, int, statement, text, uuid } from '../../src/domain/sql.ts'
import type { SweepName } from '../../src/domain/sweep/sweep.ts'
import { trySend } from '../../test/support/http-client.ts'
import { type Account, nothingAcknowledged, openAccount } from './callers.ts'
import { ask, type Call } from './client.ts'
import type { Parts } from './parts.ts'
import { percentile } from './percentile.ts'
import type { SweepsUnderTest } from './poisoned-sweeps.ts'
import { runSql } from './run-sql.ts'
import { readUserId } from './store.ts'

const history = { parameters: { item: uuid, rows: int } }

/** Commits that stand on the chain, beside those that an asset has. */
const commitsSql = `made as (
    insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
    select a.id, a.head_sequence + n, a.owner_id, '{}', '{"n": ' || n || '}', 'bafk-' || n, repeat('a', 64)
    from assets a, generate_series(1, $rows) n where a.id = $item returning id, sequence
  ),
  relayed as (insert into commit_relays (commit_id, status) select id, 'FINAL' from made)
  update assets set head_sequence = newest.sequence, head_commit_id = newest.id
  from (select id, sequence from made order by sequence desc limit 1) newest where assets.id = $item`

const addCommits = statement('proof_long_asset', history, `with ${commitsSql}`)

const addGrants = statement(
  'proof_long_wallet',
  history,
  `with made as (
     insert into point_grants (wallet_id, amount, remaining, reason, expires_at)
     select $item, 1, 1, 'a proof', now() - interval '1 second' from generate_series(1, $rows)
   )
   update wallets set points = points + $rows where user_id = $item`,
)

/** Rows that one statement adds. */
const AT_ONCE = 5_000

/** Adds so many rows to the history of an item. */
async function add(
  { query }: Pick<Parts['database'], 'query'>,
  statement: typeof addCommits,
  item: string,
  rows: number,
) {
  for (let left = rows; left > 0; left -= AT_ONCE) await query(statement, { item, rows: Math.min(left, AT_ONCE) })
}

/** What makes the oldest item of a sweep one with a long history. */
const sweepsOfHistories = {
  'erase-deleted-assets': {
    longer: addCommits,
    open: 'select from assets where id = $1::uuid and erased_to < head_sequence',
  },
  'expire-points': { longer: addGrants, open: 'select from wallets where user_id = $1::uuid and points > 0' },
} satisfies Partial<Record<SweepName, { longer: typeof addCommits; open: string }>>
export type SweepOfHistories = keyof typeof sweepsOfHistories
export const sweepNamesOfHistories = Object.keys(sweepsOfHistories) as SweepOfHistories[]

/** Makes items as the sweeps' scene does; the oldest of them has so many rows. */
export async function makeLong(
  { make, installation }: SweepsUnderTest,
  name: SweepOfHistories,
  count: number,
  rows: number,
) {
  const { good } = await make(name, count, 0)
  const [item, ...others] = good
  const { longer, open } = sweepsOfHistories[name]
  await add(installation.database, longer, item!, rows)
  await runSql(installation.database, 'analyze')
  const isOver = async () => (await runSql(installation.database, open, [item])).length === 0
  return { others, isOver }
}

/** Transfers that gave the wallet something, as the books want them. */
const addTransfers = statement(
  'proof_long_statement',
  history,
  `with made as (insert into transfers (reference) select 'proof:' || uuidv7() from generate_series(1, $rows) returning id),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select made.id, line.* from made, lateral (values
       (1, $item, null::book, 'NUM'::currency, 1), (2, null, 'DEPOSITS', 'NUM', -1)
     ) as line (position, wallet_id, book, currency, amount)
   )
   update wallets set num = num + $rows where user_id = $item`,
)
const findAsset = statement(
  'proof_long_asset_of',
  { parameters: { owner: uuid }, columns: { id: uuid } },
  'select id from assets where owner_id = $owner',
)
const stillThere = statement(
  'proof_long_left',
  { parameters: { users: arrayOf(uuid) }, columns: { name: text } },
  'select username as name from users where id = any ($users) and deleted_at is null',
)

type Holder = Account & { id: string }

/** An account with an asset of so many commits and a wallet of so many transfers, beside what everybody has. */
export async function openHolder({ database }: Parts, base: string, name: string, rows: number): Promise<Holder> {
  const account = await openAccount(base, name, nothingAcknowledged())
  const id = await readUserId(database, name)
  const [asset] = await database.query(findAsset, { owner: id })
  await add(database, addCommits, asset!.id, rows)
  await add(database, addTransfers, id, rows)
  await runSql(database, 'analyze')
  return { ...account, id }
}

const PAGE = 50

const readsOf = ({ nid }: Holder): Call[] => [
  { method: 'GET', path: `/api/v3/assets/?limit=${PAGE}` },
  { method: 'GET', path: `/api/v3/assets/${nid}/history/?limit=${PAGE}` },
  { method: 'GET', path: `/api/v3/wallet/transfers/?limit=${PAGE}` },
  {
    path: '/graphql',
    json: { query: '{ assets(first: 5) { edges { node { id commits(first: 5) { edges { node { id } } } } } } }' },
  },
]

const read = async (base: string, call: Call, { token }: Holder) => {
  const begin = performance.now()
  await ask(base, { ...call, token }, 200)
  return { milliseconds: performance.now() - begin }
}

/** The p99 of somebody's reads, in milliseconds, while a neighbour reads their own and has them exported. */
export async function readBeside(base: string, reader: Holder, neighbour: Holder, count: number): Promise<number> {
  let isOver = false
  const stop = new AbortController()
  const headers = { Authorization: `token ${neighbour.token}` }
  const exported = fetch(`${base}/api/v3/auth/users/me/export/`, { headers, signal: stop.signal })
    .then(async ({ body }) => {
      for await (const _ of body!) if (isOver) return
    })
    .catch(() => undefined)
  const loop = async () => {
    while (!isOver) for (const call of readsOf(neighbour)) await read(base, call, neighbour)
  }
  const looping = loop()
  const reads: { milliseconds: number }[] = []
  while (reads.length < count) for (const call of readsOf(reader)) reads.push(await read(base, call, reader))
  isOver = true
  stop.abort()
  await Promise.all([looping, exported])
  return percentile(reads, 0.99)
}

/** Deletes the asset, and then the account, both through the front door; returns what was wrong with it. */
export async function deleteLong({ database }: Parts, base: string, long: Holder): Promise<string[]> {
  const reasons: string[] = []
  for (const path of [`/api/v3/assets/${long.nid}/`, '/api/v3/auth/users/me/']) {
    const answer = await trySend(base, { method: 'DELETE', path, token: long.token })
    if (answer.status !== 204) reasons.push(`DELETE ${path} was answered with ${JSON.stringify(answer)}.`)
  }
  const left = await database.query(stillThere, { users: [long.id] })
  return [...reasons, ...left.map(({ name }) => `${name} was not deleted.`)]
}
