/** Follows sent transactions until they are final, displaced by a reorganization, or known to have had no effect. */
import { arrayOf, int, numeric, orNull, type RowOf, smallint, statement, text, uuid } from '../../db/sql.ts'
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { eventSql } from '../../modules/events/events.sql.ts'
import { toId } from '../../shared/ids.ts'
import { fromUnits } from '../../shared/money.ts'
import type { Problem } from '../poller.ts'
import { feeOf, type ReceiptReply, readReceipts } from '../rpc.ts'
import { nonceOf } from '../transaction.ts'
import { type ChainView, findSpender, readBlockHashes } from '../view.ts'
import { type Cost, costsOf, findCommitEvents, withHistoryCache } from './find-on-chain.ts'
import { type BlockRow, blockColumns, findRaw, type InFlightRow, transactionsOfSql } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'
import { isDisplaced } from './stale-node-guard.ts'

/** Number of transactions without effect after which a commit fails. */
const ATTEMPT_LIMIT = 3
const RECEIPTS_AT_ONCE = 16
const COMMITS_AT_ONCE = 500

const inChunks = <Item>(items: readonly Item[], size = COMMITS_AT_ONCE): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** A commit and the block that contains it. The cost is missing until the receipt is read. */
type IncludedCommit = { commit: string; hash: string; blockNumber: number; blockHash: string; cost?: Cost }

export const follow = async (parts: RelayParts, lane: Lane, view: ChainView, inFlight: readonly InFlightRow[]) => {
  const count = view.counts.get(lane.address) ?? 0
  const seen = `${view.head.hash}:${count}`
  if (lane.seen === seen) return
  // Set `seen` before reading. Code that runs meanwhile clears `seen` to request another pass.
  lane.seen = seen
  let isSettled = false
  try {
    // A transaction can have a receipt if its nonce is below the transaction count.
    const below = inFlight.filter(({ nonce }) => nonce < count)
    const settledAll = await storeOutcomes(parts, lane, view, below)
    const isUnsure = await checkIncluded(parts, lane, view)
    if (settledAll) reportLane(parts, lane, 'receipts')
    isSettled = settledAll && !isUnsure
  } finally {
    if (!isSettled) lane.seen = ''
  }
}

const storeOutcomes = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly InFlightRow[]) => {
  const hashes = rows.flatMap((row) => row.hashes)
  const receipts = await fetchReceipts(parts, hashes)
  const included: { row: InFlightRow; receipt: ReceiptReply; costs: readonly Cost[] }[] = []
  const cached = withHistoryCache(parts)
  let settledAll = true
  for (const row of rows) {
    const found = row.hashes.flatMap((hash) => receipts.get(hash) ?? [])
    const inclusion = inclusionOf(row, found)
    if (inclusion) {
      included.push({ row, ...inclusion })
      continue
    }
    // The problem of the first transaction delays all others, so only the first problem is logged.
    const isFirst = settledAll
    const report = (problem: Problem) => isFirst && reportLane(parts, lane, 'receipts', problem)
    settledAll = false
    await settleWithoutEffect(cached, lane, view, row, found, report)
  }
  const commits = included.flatMap(({ row, receipt, costs }) => {
    const { transactionHash: hash, blockNumber, blockHash } = receipt
    const block = { hash, blockNumber: Number(blockNumber), blockHash }
    return row.commits.map((commit, index) => ({ commit, ...block, cost: costs[index]! }))
  })
  await storeIncluded(parts, lane, commits)
  for (const { row, receipt } of included) {
    parts.meter.count('annal_relay_fees_paid_coins_total', {}, Number(fromUnits(feeOf(receipt))))
    const { transactionHash, blockNumber } = receipt
    const facts = { 'annal.chain.transaction': transactionHash, 'annal.chain.block': Number(blockNumber) }
    for (const trace of row.traces) parts.tracer.note(trace, 'relay include', { facts }, row.age * 1_000)
  }
  return settledAll
}

const storeIncluded = async ({ lease }: RelayParts, lane: Lane, commits: readonly IncludedCommit[]) => {
  for (const some of inChunks(commits))
    await lease.write(lane.name, markIncluded, {
      commits: some.map(({ commit }) => commit),
      hashes: some.map(({ hash }) => hash),
      blockNumbers: some.map(({ blockNumber }) => blockNumber),
      blockHashes: some.map(({ blockHash }) => blockHash),
      gas: some.map(({ cost }) => cost?.gas ?? null),
      fees: some.map(({ cost }) => (cost ? String(cost.fee) : null)),
    })
}

const fetchReceipts = async ({ rpc }: Pick<RelayParts, 'rpc'>, hashes: readonly string[]) => {
  const receipts = new Map<string, ReceiptReply>()
  for (const some of inChunks(hashes, RECEIPTS_AT_ONCE))
    for (const receipt of await readReceipts(rpc, some)) if (receipt) receipts.set(receipt.transactionHash, receipt)
  return receipts
}

const inclusionOf = (row: InFlightRow, receipts: readonly ReceiptReply[]) => {
  for (const receipt of receipts) {
    // The commit may have had another position in an earlier transaction.
    const first = row.positions[row.hashes.indexOf(receipt.transactionHash)] ?? 0
    const shares = costsOf(receipt)
    const costs = row.places.flatMap((place) => shares[place - row.places[0]! + first] ?? [])
    if (costs.length === row.commits.length) return { receipt, costs }
  }
  return undefined
}

/** Finalizes commits and handles reorganizations. Returns true if a node lacks a block. */
const checkIncluded = async (parts: RelayParts, lane: Lane, view: ChainView): Promise<boolean> => {
  const rows = await parts.database.query(findIncluded, { lane: lane.address })
  if (rows.length === 0) return false
  const canonical = await readBlockHashes(parts.rpc, [...new Set(rows.map((row) => row.block_number))])
  const displaced = rows.filter((row) => isDisplaced(row, canonical, view.head))
  const present = rows.filter((row) => canonical.get(row.block_number) === row.block_hash)
  const deep = present.filter((row) => view.head.number - row.block_number >= parts.confirmations)
  await addCosts(parts, lane, deep)
  for (const settled of inChunks(deep)) {
    const commits = settled.map((row) => row.commit_id)
    await parts.lease.write(lane.name, markFinal, { commits, blockHashes: settled.map((row) => row.block_hash) })
  }
  if (displaced.length > 0) await displace(parts, lane, displaced)
  return present.length < rows.length
}

/** Stores the costs of commits that were found through the registry's events, before they become final. */
const addCosts = async (parts: RelayParts, lane: Lane, rows: readonly IncludedRow[]) => {
  const unknown = rows.filter((row) => row.gas_used === null)
  const receipts = await fetchReceipts(parts, [...new Set(unknown.map(({ hash }) => hash))])
  const known = unknown.flatMap(({ commit_id, hash, position }) => {
    const receipt = receipts.get(hash)
    const cost = receipt && costsOf(receipt)[position]
    return cost ? [{ commit_id, cost }] : []
  })
  if (known.length === 0) return
  await parts.lease.write(lane.name, storeCosts, {
    commits: known.map(({ commit_id }) => commit_id),
    gas: known.map(({ cost }) => cost.gas),
    fees: known.map(({ cost }) => String(cost.fee)),
  })
}

/** Returns commits of lost blocks to BROADCAST. Their transactions are then sent again. */
export const displace = async (parts: RelayParts, lane: Lane, rows: readonly BlockRow[]) => {
  await parts.lease.write(lane.name, markDisplaced, { commits: rows.map((row) => row.commit_id) })
  for (const row of rows) lane.sentAt.delete(row.nonce)
  lane.seen = ''
  const fields = { lane: lane.address, commits: rows.length }
  parts.log.warn(fields, 'Chain reorganization; sending the transactions of lost blocks again')
}

/** Handles a used nonce without an event. Releases the commits after enough confirmations. */
const settleWithoutEffect = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  row: InFlightRow,
  receipts: readonly ReceiptReply[],
  report: (problem: Problem) => void,
) => {
  const deepest = view.head.number - parts.confirmations
  if (deepest < 0) return
  const raws = await parts.database.query(findRaw, { hashes: receipts.map((receipt) => receipt.transactionHash) })
  const ours = new Set(raws.filter(({ raw }) => nonceOf(raw) === row.nonce).map(({ hash }) => hash))
  const futile = receipts.find((receipt) => ours.has(receipt.transactionHash))
  if (futile) {
    const message = 'Transaction had no effect; check its gas and the address of the registry'
    report({ message, fields: { transaction: futile.transactionHash } })
    if (Number(futile.blockNumber) > deepest) return
    const missing = await includeFromRegistry(parts, lane, row)
    return release(parts, lane, row.nonce, missing, `the transaction ${futile.transactionHash} had no effect`)
  }
  const now = performance.now()
  const until = lane.missingUntil.get(row.nonce)
  if (until === undefined || until <= now) lane.missingUntil.set(row.nonce, now + parts.receiptPatience)
  if (until === undefined || now < until) return
  const missing = await includeFromRegistry(parts, lane, row)
  if (missing.length === 0) return
  const spender = await findSpender(parts.rpc, lane.address, row.nonce, deepest)
  const isForeign = spender !== undefined && !row.hashes.includes(spender)
  const message = isForeign
    ? 'An unknown transaction used a nonce of the relay account: another party has its key'
    : 'The node has no receipt for a used nonce; waiting'
  report({ message, fields: { nonce: row.nonce } })
  if (isForeign)
    await release(parts, lane, row.nonce, missing, `the unknown transaction ${spender} used nonce ${row.nonce}`)
}

/** Marks commits in the registry's events as included. Returns the others, or none if a history is incomplete. */
const includeFromRegistry = async (parts: RelayParts, lane: Lane, { commits }: InFlightRow): Promise<string[]> => {
  const { found, unread } = await findCommitEvents(parts, commits)
  const there = [...found].map(([commit, { transactionHash, blockNumber, blockHash }]) => ({
    ...{ commit, hash: transactionHash, blockNumber, blockHash },
  }))
  await storeIncluded(parts, lane, there)
  return unread.size > 0 ? [] : commits.filter((commit) => !found.has(commit))
}

/** Returns commits to PENDING to be signed again. Refunds a commit after too many transactions without effect. */
const release = async (parts: RelayParts, lane: Lane, nonce: number, commits: readonly string[], reason: string) => {
  const signed = Map.groupBy(await parts.database.query(findSigned, { commits }), (row) => row.commit_id)
  const hashes = [...signed.values()].flatMap((rows) => rows.map(({ hash }) => hash))
  const raws = await parts.database.query(findRaw, { hashes: [...new Set(hashes)] })
  const nonces = new Map(raws.map(({ hash, raw }) => [hash, nonceOf(raw)]))
  const attemptsOf = (commit: string) => new Set(signed.get(commit)?.map(({ hash }) => nonces.get(hash))).size
  const again = commits.filter((commit) => attemptsOf(commit) < ATTEMPT_LIMIT)
  if (again.length > 0) await parts.lease.write(lane.name, releaseCommits, { commits: again, nonce })
  for (const commit of commits) {
    if (again.includes(commit)) continue
    const facts = { commit: toId('commit', commit), attempts: attemptsOf(commit), reason }
    parts.log.error(facts, 'Commit failed; refunding it')
    await parts.lease.write(lane.name, failCommit, { commit, reason })
  }
}

const includedColumns = { ...blockColumns, hash: text, position: smallint, gas_used: orNull(int) }
type IncludedRow = RowOf<typeof includedColumns>

const findIncluded = statement(
  'relay_included',
  { parameters: { lane: text }, columns: includedColumns },
  `select commit_id, nonce, block_number, block_hash, transaction_hash as hash, position, gas_used
   from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and status = 'INCLUDED' and lane = $lane`,
)

/** Marks commits as included. The arrays are parallel. `fees` is in wei. */
export const markIncluded = statement(
  'relay_mark_included',
  {
    parameters: {
      ...{ commits: arrayOf(uuid), hashes: arrayOf(text), blockNumbers: arrayOf(int), blockHashes: arrayOf(text) },
      ...{ gas: arrayOf(orNull(int)), fees: arrayOf(orNull(numeric)) },
    },
  },
  `update commit_relays r set status = 'INCLUDED', transaction_hash = item.hash, block_number = item.block_number,
     block_hash = item.block_hash, gas_used = item.gas, fee_paid = item.fee, updated_at = now()
   from unnest($commits, $hashes, $blockNumbers, $blockHashes, $gas, $fees)
     as item (commit_id, hash, block_number, block_hash, gas, fee)
   where r.commit_id = item.commit_id and r.status in ('PENDING', 'BROADCAST', 'INCLUDED')`,
)

/** Returns commits of lost blocks to BROADCAST, or to PENDING if their transaction is not stored. */
const markDisplaced = statement(
  'relay_mark_displaced',
  { parameters: { commits: arrayOf(uuid) } },
  `update commit_relays r set status = case when own.has_bytes then 'BROADCAST' else 'PENDING' end::commit_status,
     lane = case when own.has_bytes then r.lane end, nonce = case when own.has_bytes then r.nonce end,
     position = case when own.has_bytes then r.position else 0 end,
     transaction_hash = case when own.has_bytes then r.transaction_hash end,
     block_number = null, block_hash = null, gas_used = null, fee_paid = null, updated_at = now()
   from (
     select id, exists (select from ${transactionsOfSql('id')} t) as has_bytes from unnest($commits) as item (id)
   ) own
   where r.commit_id = own.id and r.status in ('INCLUDED', 'FINAL')`,
)

/** SQL that adds events for the rows of the CTE `settled_relays`. Locks the wallets in the order of their IDs. */
const finalEventsSql = `
   authors as (
     select c.author_id, count(*)::int as events
     from settled_relays join commits c on c.id = settled_relays.commit_id group by c.author_id
   ),
   locked_wallets as (
     select user_id from wallets where user_id in (select author_id from authors) order by user_id for no key update
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + authors.events
     from locked_wallets join authors on authors.author_id = locked_wallets.user_id
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before
   ),
   ${eventSql({
     from: `settled_relays join commits c on c.id = settled_relays.commit_id
       join updated_wallets w on w.user_id = c.author_id`,
     ...{ owner: 'w.user_id', type: 'commit.final', commit: 'c.id' },
     sequence: 'w.before + row_number() over (partition by w.user_id order by c.id)',
   })}`

/** Marks commits as final if their block hash is unchanged. Erases commits of deleted assets. */
export const markFinal = statement(
  'relay_mark_final',
  { parameters: { commits: arrayOf(uuid), blockHashes: arrayOf(text) } },
  `with settled_relays as (
     update commit_relays r set status = 'FINAL', updated_at = now()
     from unnest($commits, $blockHashes) as item (commit_id, block_hash)
     where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.block_hash = item.block_hash
     returning r.commit_id
   ),
   erasable_commits as (
     select c.id, c.asset_id
     from settled_relays join commits c on c.id = settled_relays.commit_id join assets a on a.id = c.asset_id
     where a.deleted_at is not null
   ),
   deleted_pins as (delete from pins using erasable_commits where pins.asset_id = erasable_commits.asset_id),
   ${finalEventsSql}
   update commits c set tree = '', message = '', changes = '{}' from erasable_commits where c.id = erasable_commits.id`,
)

const storeCosts = statement(
  'relay_store_costs',
  { parameters: { commits: arrayOf(uuid), gas: arrayOf(int), fees: arrayOf(numeric) } },
  `update commit_relays r set gas_used = item.gas, fee_paid = item.fee
   from unnest($commits, $gas, $fees) as item (commit_id, gas, fee)
   where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.gas_used is null`,
)

const findSigned = statement(
  'relay_signed',
  { parameters: { commits: arrayOf(uuid) }, columns: { commit_id: uuid, hash: text } },
  `select item.commit_id, own.hash
   from unnest($commits) as item (commit_id), lateral ${transactionsOfSql('item.commit_id')} own`,
)

/** Returns commits to PENDING after their nonce was used without effect. */
const releaseCommits = statement(
  'relay_release',
  { parameters: { commits: arrayOf(uuid), nonce: int } },
  `update commit_relays
   set status = 'PENDING', lane = null, nonce = null, position = 0, transaction_hash = null, block_number = null,
     block_hash = null, updated_at = now()
   where commit_id = any ($commits) and nonce = $nonce and status in ('PENDING', 'BROADCAST')`,
)
