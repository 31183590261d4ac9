/** Compares the database, the ledger and the chain with the acknowledged writes. */
import { createRegistry, registrySetting } from '../../src/chain/registry/registry.ts'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { arrayOf, bigint, boolean, int, orNull, type Statement, statement, text } from '../../src/db/sql.ts'
import { until } from '../../test/support/eventually.ts'
import type { Acknowledged } from './callers.ts'
import type { Parts } from './parts.ts'
import { describeTally, tally } from './tally.ts'

const open = statement(
  'proof_open',
  { columns: { status: text, count: int, lanes: int, lowest: orNull(int), why: orNull(text) } },
  `select status::text, count(*)::int as count, count(distinct lane)::int as lanes, min(nonce) as lowest, max(last_error) as why
   from commit_relays where status <> 'FINAL' group by status order by status`,
)

/** Describes the commits that are not final, by status. */
export async function describeOpen({ database }: Pick<Parts, 'database'>): Promise<string> {
  const rows = await database.query(open)
  const parts = rows.map(
    ({ status, count, lanes, lowest, why }) =>
      `${count} ${status}${lanes > 0 ? ` in ${lanes} lanes from nonce ${lowest} on` : ''}${why ? ` (${why.slice(0, 200)})` : ''}`,
  )
  return parts.join(', ') || 'none'
}

/** Waits until every accepted commit is settled. */
export async function quiesce(parts: Parts): Promise<void> {
  let left = ''
  const look = async () => {
    left = await describeOpen(parts)
    return left === 'none'
  }
  await until(() => `every commit is final; not final are ${left}`, look, 120_000, 100)
}

const messages = statement('proof_messages', { columns: { id: text } }, 'select message as id from commits')
const usernames = statement('proof_usernames', { columns: { id: text } }, 'select username as id from users')
const spent = statement(
  'proof_spent',
  { columns: { username: text, commits: bigint, wrong: boolean } },
  `select u.username, count(c.id) as commits,
     w.points + w.num <> 100000 - 0.179 * count(c.id) as wrong
   from users u join wallets w on w.user_id = u.id left join commits c on c.author_id = u.id
   group by u.username, w.points, w.num`,
)
const order = statement(
  'proof_order',
  { columns: { id: text } },
  'select message as id from commits order by asset_id, sequence',
)

export const idsOf = async (database: ConnectedDatabase, query: Statement<Record<never, never>, { id: string }>) =>
  (await database.query(query)).map(({ id }) => id)

async function tallies(database: ConnectedDatabase, { commits, signUps }: Acknowledged) {
  return {
    commits: tally(commits, await idsOf(database, messages)),
    'sign-ups': tally(signUps, await idsOf(database, usernames)),
  }
}

/** Counts lost and duplicate writes. */
export async function countDatabase(database: ConnectedDatabase, acknowledged: Acknowledged) {
  const all = Object.values(await tallies(database, acknowledged))
  const count = (key: 'lost' | 'double') => all.reduce((sum, each) => sum + each[key].length, 0)
  return { lost: count('lost'), double: count('double') }
}

/** Checks the database and the ledger. `others`: users whose balances also changed for other reasons. */
export async function judgeDatabase(
  { database }: Parts,
  acknowledged: Acknowledged,
  others: readonly string[] = [],
): Promise<string[]> {
  const reasons = Object.entries(await tallies(database, acknowledged)).flatMap(([what, found]) =>
    describeTally(what, found),
  )
  for (const { username, commits, wrong } of await database.query(spent)) {
    const told = acknowledged.byAccount.get(username)?.length ?? 0
    if (wrong && !others.includes(username))
      reasons.push(`The balance of ${username} is not what ${commits} commits leave of it.`)
    if (Number(commits) !== told) reasons.push(`${username} has ${commits} commits and was told of ${told}.`)
  }
  const places = new Map((await idsOf(database, order)).map((id, index) => [id, index]))
  for (const mine of acknowledged.byCaller) {
    const found = mine.map((id) => places.get(id) ?? -1)
    if (found.some((place, index) => index > 0 && place < found[index - 1]!)) {
      reasons.push(`The changes of a caller are not in the order in which they were made: ${mine[0]}…`)
    }
  }
  return reasons
}

const histories = statement(
  'proof_histories',
  { columns: { nid: text, trees: arrayOf(text) } },
  `select a.nid, array_agg(c.tree_cid || ' ' || c.message order by c.sequence) as trees
   from assets a join commits c on c.asset_id = a.id group by a.nid`,
)
const settings = statement(
  'proof_settings',
  { columns: { key: text, value: text } },
  'select key, value from key_values',
)

/** Checks that every accepted commit is on the chain exactly once, in order, and nothing else is. */
export async function judgeChain({ database, rpcUrl }: Parts): Promise<string[]> {
  const reasons: string[] = []
  const known = new Map((await database.query(settings)).map(({ key, value }) => [key, value]))
  const address = known.get(registrySetting(Number(known.get('chain:id'))))
  if (!address) return ['There is no registry.']
  const registry = createRegistry({ rpcUrl, address })
  let accepted = 0
  for (const { nid, trees } of await database.query(histories)) {
    accepted += trees.length
    const events = (await registry.readCommits(nid)).map(({ commitData }, index) => {
      if (!commitData) return 'not in the layout'
      // Texts of deleted commits exist only on the chain.
      const isErased = trees[index]?.endsWith(' ')
      return `${commitData.assetTreeCid} ${isErased ? '' : commitData.abstract}`
    })
    if (events.join('\n') !== trees.join('\n')) {
      reasons.push(`${nid}: ${trees.length} accepted commits, ${events.length} on the chain, or another order.`)
    }
  }
  const all = await registry.rpc.call<unknown[]>('eth_getLogs', { address, fromBlock: '0x0', toBlock: 'latest' })
  if (all.length !== accepted) reasons.push(`${accepted} commits were accepted, ${all.length} events are on the chain.`)
  return reasons
}
