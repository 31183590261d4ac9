/** Sends coins to one wallet on the chain, and checks that they are credited. */
import { createRpc } from '../../src/chain/rpc.ts'
import { numeric, statement, text, uuid } from '../../src/db/sql.ts'
import { until } from '../../test/support/eventually.ts'
import type { Parts } from './parts.ts'

/** An account without a known key. The development chain impersonates it to send coins. */
const SENDER = `0x${'f0'.repeat(20)}`
const FUNDS = 10n ** 24n

export interface Coins {
  /** Sends one coin more than the previous time. Returns the transaction hash. */
  send(): Promise<string>
  /** Waits until the deposit of a transaction is credited. */
  credited(transaction: string, milliseconds: number): Promise<void>
  /** Waits until all deposits are credited. Returns a message for each that is not credited exactly once. */
  judgeCredits(): Promise<string[]>
  /** Does the same for a wallet without withdrawals, on a chain without reorgs. */
  judge(): Promise<string[]>
}

const findAddress = statement(
  'proof_address',
  { parameters: { user: uuid }, columns: { address: text } },
  'select address from wallets where user_id = $user',
)
const findDeposits = statement(
  'proof_deposits',
  { parameters: { user: uuid }, columns: { hash: text, amount: numeric } },
  `select transaction_hash as hash, trim_scale(amount) as amount from deposits where wallet_id = $user and status = 'CREDITED'`,
)
const findBalance = statement(
  'proof_num',
  { parameters: { user: uuid }, columns: { num: numeric } },
  'select trim_scale(num) as num from wallets where user_id = $user',
)

export async function openCoins({ database, rpcUrl }: Parts, userId: string): Promise<Coins> {
  const rpc = createRpc({ url: rpcUrl })
  const [wallet] = await database.query(findAddress, { user: userId })
  await rpc.call('anvil_setBalance', SENDER, `0x${FUNDS.toString(16)}`)
  await rpc.call('anvil_impersonateAccount', SENDER)
  /** Number of coins by transaction. */
  const sent = new Map<string, number>()
  /** Serializes the sends, because the node would use the same nonce for concurrent ones. */
  let sending: Promise<unknown> = Promise.resolve()
  const read = () => database.query(findDeposits, { user: userId })
  async function sendOne() {
    const coins = sent.size + 1
    const value = `0x${(BigInt(coins) * 10n ** 18n).toString(16)}`
    const hash = await rpc.call<string>('eth_sendTransaction', { from: SENDER, to: wallet!.address, value })
    sent.set(hash, coins)
    return hash
  }
  /** Finds deposits on the chain. Transactions dropped by a reorg are not sent again. */
  async function findOnChain() {
    const there: string[] = []
    for (const hash of sent.keys()) if ((await rpc.call('eth_getTransactionReceipt', hash)) !== null) there.push(hash)
    return there
  }
  async function judgeCredits() {
    const there = await findOnChain()
    const isCredited = async () => (await read()).length >= there.length
    await until('every deposit is credited', isCredited, 60_000, 100).catch(() => undefined)
    const found = await read()
    const isRight =
      found.length === there.length && found.every(({ hash, amount }) => amount === String(sent.get(hash)))
    return isRight
      ? []
      : [`${there.length} deposits are on the chain; ${found.length} are in the books, or with other amounts.`]
  }
  return {
    send() {
      const next = sending.then(sendOne)
      sending = next.catch(() => undefined)
      return next
    },
    async credited(transaction, milliseconds) {
      const look = async () => (await read()).find(({ hash }) => hash === transaction)
      await until(`the deposit ${transaction} is credited`, look, milliseconds, 100)
    },
    judgeCredits,
    async judge() {
      // The last transaction may still wait for its block.
      const isThere = async () => (await findOnChain()).length === sent.size
      await until('every deposit is on the chain', isThere, 60_000, 100).catch(() => undefined)
      const credits = await judgeCredits()
      const total = [...sent.values()].reduce((sum, coins) => sum + coins, 0)
      const [balance] = await database.query(findBalance, { user: userId })
      if (balance!.num === String(total)) return credits
      return [...credits, `Deposits of ${total} were sent; ${balance!.num} are in the books.`]
    },
  }
}
