/** People who are sent coins, take them out, think better of it, and leave, as chance has decided before. */
import { setTimeout as delay } from 'node:timers/promises'
import { toUnits } from '../../src/domain/money.ts'
import { numeric, statement, text, uuid } from '../../src/domain/sql.ts'
import { until } from '../../test/support/eventually.ts'
import type { Call } from './client.ts'
import { accountOf, COIN, type CoinChain, type SentKind } from './coin-chain.ts'
import type { Parts } from './parts.ts'
import type { Random } from './random.ts'
import { persistently } from './refunds.ts'

/** What somebody wanted to take out, and was told that it is. */
export interface Asked {
  /** `withdrawal_…` */
  id: string
  to: string
  /** Wei. */
  amount: bigint
}

/** What all people were told. */
export interface Promises {
  asked: Asked[]
  /** Withdrawals that were cancelled. */
  cancelled: string[]
  /** UUIDs of those who left. */
  gone: string[]
  /** What nobody may be told. */
  surprises: string[]
}

type Step =
  | { name: 'receive'; kind: SentKind; value: bigint }
  | { name: 'withdraw'; amount: bigint; then: 'wait' | 'cancel' | 'refuse' }
  | { name: 'leave' }

/** Coins of one person at most. */
export const DEPOSITS = 4
/** Milliseconds: between two steps at most, and for money to come in. */
const REST = 1_500
const PATIENCE = 25_000

const odd = (random: Random, coins: bigint) =>
  (coins * BigInt(random.below(10 ** 9))) / 10n ** 9n + BigInt(random.below(10 ** 9))

const receive = (random: Random): Step => {
  const dice = random.next()
  if (dice < 0.15) return { name: 'receive', kind: 'DUST', value: odd(random, COIN / 10n ** 6n) + 1n }
  return { name: 'receive', kind: dice < 0.3 ? 'CONTRACT' : 'PLAIN', value: COIN + odd(random, 2n * COIN) }
}

function planOf(random: Random): Step[] {
  const steps: Step[] = Array.from({ length: 1 + random.below(DEPOSITS - 1) }, () => receive(random))
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const dice = random.next()
    const then = dice < 0.6 ? 'wait' : dice < 0.8 ? 'cancel' : 'refuse'
    steps.push({ name: 'withdraw', amount: COIN / 10n + odd(random, COIN / 2n), then })
  }
  const plan: Step[] = [
    { name: 'receive', kind: 'PLAIN', value: COIN + odd(random, 2n * COIN) },
    ...random.shuffle(steps),
  ]
  if (random.next() < 0.5) return plan
  // Whoever leaves may do so with coins that nobody has seen yet, and be sent more afterwards, though by no contract.
  const end = 1 + random.below(plan.length)
  const isLate = (step: Step) => step.name === 'receive' && step.kind !== 'CONTRACT'
  return [...plan.slice(0, end), { name: 'leave' }, ...plan.slice(end).filter(isLate)]
}

const findWallet = statement(
  'proof_wallet_of',
  { parameters: { username: text }, columns: { id: uuid, address: text } },
  'select u.id, w.address from users u join wallets w on w.user_id = u.id where u.username = $username',
)
const findMoney = statement(
  'proof_money_of',
  { parameters: { user: uuid }, columns: { num: numeric } },
  'select num from wallets where user_id = $user',
)

export interface PeopleOptions {
  parts: Parts
  chain: CoinChain
  choose(): string | undefined
  promises: Promises
  seed: string
}

const idOf = (body: unknown) => (body as { id: string }).id
const passwordOf = (username: string) => `password of ${username}`

/** One account and its whole plan. Raises when there is no answer that counts. */
export async function live(options: PeopleOptions, username: string, random: Random): Promise<void> {
  const { parts, chain, choose, promises, seed } = options
  const password = passwordOf(username)
  const plan = planOf(random)
  const say = async (call: Call, allowed: readonly string[]) => {
    const told = await persistently(choose, call)
    if (!allowed.includes(told.verdict))
      promises.surprises.push(`${call.path}: ${told.verdict} ${JSON.stringify(told.body)}`)
    return told
  }
  const api = (path: string, more: Partial<Call> = {}): Call => ({ method: 'POST', path: `/api/v3/${path}`, ...more })
  const account = { username, email: `${username}@example.org`, password }
  await say(api('auth/users/', { key: `sign-up ${username}`, json: account }), ['done'])
  const { body } = await say(api('auth/token/login/', { json: { email: account.email, password } }), ['done'])
  const { auth_token: token } = body as { auth_token: string }
  const [wallet] = await parts.database.query(findWallet, { username })
  const { id: user, address } = wallet!

  const withdraw = async ({ amount, then }: Extract<Step, { name: 'withdraw' }>, serial: number) => {
    const isRich = async () => {
      const [row] = await parts.database.query(findMoney, { user })
      return toUnits(row!.num) > amount + COIN / 20n
    }
    // A reorganisation may have taken it, and nobody sends it again.
    const isThere = await until('money', isRich, PATIENCE, 200).catch(() => false)
    if (!isThere) return
    const to = accountOf(`${seed}/${username} takes ${serial}`).address
    const json = {
      amount: `${amount / COIN}.${String(amount % COIN).padStart(18, '0')}`,
      to,
      current_password: password,
    }
    const key = `withdraw ${username} ${serial}`
    const told = await say(api('wallet/withdrawals/', { token, key, json }), ['done', 'insufficient_fund'])
    if (told.verdict !== 'done') return
    const asked = { id: idOf(told.body), to, amount }
    promises.asked.push(asked)
    if (then === 'refuse') await chain.refuse(to)
    if (then !== 'cancel') return
    const path = `wallet/withdrawals/${asked.id}/cancel/`
    const { verdict } = await say(api(path, { token, key: `cancel ${asked.id}` }), [
      'done',
      'unable_to_cancel_withdrawal',
    ])
    if (verdict === 'done') promises.cancelled.push(asked.id)
  }

  for (const [serial, step] of plan.entries()) {
    await delay(random.below(REST))
    if (step.name === 'receive') {
      const sent = await chain.send(step.kind, address, step.value)
      // Once the account is gone nobody looks for what contracts send.
      if (step.kind === 'CONTRACT') await chain.included(sent)
    } else if (step.name === 'withdraw') await withdraw(step, serial)
    else {
      chain.leave(address)
      // Told twice when the first answer is lost: then the account is gone.
      await say(api('auth/users/me/', { method: 'DELETE', token }), ['done', 'authentication_failed'])
      promises.gone.push(user)
    }
  }
}
