/**
 * F13: transactions that cannot be built, stored or sent leave no nonce gap. A node that reports wrong nonces does not cause wrong nonces.
 * All other commits are mined soon.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { registrySetting } from '../src/chain/registry/registry.ts'
import { retryNow } from '../src/chain/relay/relay.sql.ts'
import { findSetting } from '../src/db/key-value-store.ts'
import { int, statement, text } from '../src/db/sql.ts'
import { everyNth, miscounts } from '../test/support/chain-faults.ts'
import type { Fault } from '../test/support/chain-proxy.ts'
import { openAccount, updateCall } from './harness/callers.ts'
import { openCarelessAccount, sendManaged } from './harness/careless-relay.ts'
import { type ChainScene, openChainScene } from './harness/chain-scene.ts'
import { persist } from './harness/client.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { fillersOf, judgeNonces, readSent } from './harness/sent-transactions.ts'

const EVERY = 7
/** Maximum time until all other commits are included, in milliseconds. */
const BACK = 30_000

/** SQL that makes every n-th attempt to store a transaction fail. Rolled-back attempts are counted, too. */
const breakStoring = [
  'create sequence proof_builds',
  `create function proof_break() returns trigger language plpgsql as $$
    begin
      if nextval('proof_builds') % ${EVERY} = 0 then raise 'it could not be stored'; end if;
      return null;
    end $$`,
  'create trigger proof_break before insert on chain_transactions for each statement execute function proof_break()',
].map((words, index) => statement(`proof_break_${index}`, {}, words))
const mendStoring = statement('proof_mend', {}, 'drop trigger proof_break on chain_transactions')
const countBuilds = statement(
  'proof_builds',
  { columns: { count: int } },
  'select last_value::int as count from proof_builds',
)

const spoilKey = statement(
  'proof_spoil_key',
  { parameters: { username: text } },
  `update user_keys set sealed_private_key = sealed_private_key || '\\x00'::bytea
   where user_id = (select id from users where username = $username)`,
)
const mendKey = statement(
  'proof_mend_key',
  { parameters: { username: text } },
  `update user_keys set sealed_private_key = substr(sealed_private_key, 1, length(sealed_private_key) - 1)
   where user_id = (select id from users where username = $username)`,
)
const countOthers = statement(
  'proof_others_waiting',
  { parameters: { username: text }, columns: { count: int } },
  `select count(*)::int as count from commit_relays r join commits c on c.id = r.commit_id
     join users u on u.id = c.author_id
   where r.status in ('PENDING', 'BROADCAST') and c.created_at < now() - interval '30 seconds' and u.username <> $username`,
)

const refusal = { code: -32000, message: 'internal error' }
const lies: [name: string, fault: Fault][] = [
  ['every 7th estimate is cut off', everyNth('eth_estimateGas', EVERY, 'cut')],
  ['every 7th transaction is refused', everyNth('eth_sendRawTransaction', EVERY, refusal)],
  ['counts 3 too low', miscounts(-3)],
  ['counts 0', miscounts(-1_000_000)],
  ['counts 3 too high', miscounts(3)],
  ['counts a million too high', miscounts(1_000_000)],
  ['pending 3 too low', miscounts(-3, ['pending'])],
  ['pending 3 too high', miscounts(3, ['pending'])],
]

/** Counts the transactions of these accounts that wait in the node because of a nonce gap. */
async function countQueued({ rpc }: ChainScene, account?: string): Promise<number> {
  const { queued } = await rpc.call<{ queued: Record<string, object> }>('txpool_content')
  const accounts = Object.entries(queued).filter(([from]) => !account || from.toLowerCase() === account.toLowerCase())
  return accounts.reduce((sum, [, transactions]) => sum + Object.keys(transactions).length, 0)
}

/** Control: the nonce manager of the library must be detected as leaving a nonce gap after a failed build. */
async function catchManager(context: ProofContext, scene: ChainScene): Promise<string[]> {
  const [registry] = await scene.parts.database.query(findSetting, { key: registrySetting(31337) })
  const wallet = await openCarelessAccount(scene.rpc)
  const sent = await sendManaged(scene.parts.rpcUrl, wallet, registry!.value, 20, EVERY)
  await delay(3_000)
  const queued = await countQueued(scene, wallet.address)
  context.say(`control: of ${sent} transactions of a nonce manager ${queued} wait behind a gap`)
  return queued > 0 ? [] : ['The control was not caught: the nonce manager left no gap.']
}

/** Opens an account whose key cannot be decrypted. Its commits cannot be built. Commits of all other accounts can. */
async function openUnbuildable({ parts, gateways, acknowledged }: ChainScene) {
  const account = await openAccount(gateways[0]!.url, 'dave', acknowledged)
  await parts.database.query(spoilKey, { username: account.username })
  return async (serial: number) => {
    const message = `dave ${serial}`
    const { answer } = await persist(() => gateways[0]!.url, updateCall(account, message))
    if (answer.status !== 200) return
    acknowledged.commits.push(message)
    acknowledged.byAccount.get(account.username)!.push(message)
  }
}

export async function proveNonceGap(context: ProofContext): Promise<ProofResult> {
  const seconds = context.setting('SECONDS', 40)
  const scene = await openChainScene(context)
  const { parts } = scene
  const reasons: string[] = []
  const backs: number[] = []

  const unbuildable = await openUnbuildable(scene)
  for (const each of breakStoring) await parts.database.query(each)
  let late = 0
  for (let second = 0; second < Math.max(seconds, 35); second += 1) {
    await unbuildable(second)
    await delay(1_000)
    late += (await parts.database.query(countOthers, { username: 'dave' }))[0]!.count
  }
  if (late > 0) reasons.push('Commits of others waited for more than 30 s while some could not be built.')
  const builds = (await parts.database.query(countBuilds))[0]!.count
  await parts.database.query(mendStoring)
  await parts.database.query(mendKey, { username: 'dave' })
  await parts.database.query(retryNow)
  backs.push(await scene.untilIncluded(4 * BACK))
  const broken = Math.floor(builds / EVERY)
  context.say(`${broken} of ${builds} builds could not be stored; all included ${backs[0]!.toFixed(0)} ms after`)
  if (broken === 0) reasons.push('No build failed: the run is invalid.')

  for (const [name, fault] of context.random.fork('lies').shuffle(lies)) {
    const before = scene.proxies.reduce((sum, { faults }) => sum + faults, 0)
    scene.disturb(fault)
    await delay(seconds * 1_000)
    scene.disturb(undefined)
    const struck = scene.proxies.reduce((sum, { faults }) => sum + faults, 0) - before
    const took = await scene.untilIncluded(4 * BACK)
    backs.push(took)
    context.say(`${name}: ${struck} requests, all included ${took.toFixed(0)} ms after`)
    if (struck === 0) reasons.push(`Nobody met "${name}": the run is invalid.`)
    if (took > BACK) reasons.push(`After "${name}" it took ${took.toFixed(0)} ms until all was included.`)
  }

  const judged = await scene.judgeAll()
  const sent = await readSent(scene.sent)
  const fillers = fillersOf(sent)
  const gaps = await countQueued(scene)
  if (gaps > 0) reasons.push(`${gaps} transactions wait behind a gap.`)
  if (fillers > 0) reasons.push(`${fillers} nonces had to be filled.`)
  reasons.push(...judged.reasons, ...judgeNonces(sent), ...(await catchManager(context, scene)))
  return conclude({
    figure: `${gaps} gaps, ${fillers} nonces filled; all included at most ${(Math.max(...backs) / 1_000).toFixed(1)} s after; ${judged.lines} lines logged`,
    n: scene.acknowledged.commits.length,
    faultsInjected: broken + scene.proxies.reduce((sum, { faults }) => sum + faults, 0),
    reasons,
  })
}
