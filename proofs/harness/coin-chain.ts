/**
 * Coins on their way to people's addresses, from accounts of which each sends once: what a reorganisation drops waits for nothing else, and is
 * sent again or never, as chance decides. What a node is told to hold lies deeper than any reorganisation goes.
 */
import { createHash } from 'node:crypto'
import { createRelayAccount, type RelayAccount, toHex } from '../../src/chain/keys.ts'
import { createRpc, quantity, type Rpc, resultOf } from '../../src/chain/rpc.ts'
import { signTransaction } from '../../src/chain/transaction.ts'
import { readBlockHashes } from '../../src/chain/view.ts'
import { until } from '../../test/support/eventually.ts'
import type { Parts } from './parts.ts'
import type { Random } from './random.ts'

export const COIN = 10n ** 18n
/** Blocks that a reorganisation takes at most. */
export const DEEPEST = 20

export type SentKind = 'PLAIN' | 'CONTRACT' | 'DUST'

/** What was sent to somebody. */
export interface SentCoins {
  kind: SentKind
  to: string
  /** Wei. */
  value: bigint
  hash: string
  raw: Uint8Array
  /** Not sent again when the chain drops it. */
  isLost: boolean
}

interface Receipt {
  status: string
  blockNumber: string
  blockHash: string
}

export interface CoinChain {
  rpc: Rpc
  /** All that was sent. */
  sent: readonly SentCoins[]
  /** Sends coins from an account of its own. */
  send(kind: SentKind, to: string, value: bigint): Promise<SentCoins>
  /** Until it is in a block, or lost. */
  included(one: SentCoins): Promise<unknown>
  /** What contracts sent there is not sent again when the chain drops it: nobody looks there for it any more. */
  leave(address: string): void
  /** Whether something that was sent lies at least half as deep as that, and no deeper. */
  holds(depth: number): Promise<boolean>
  /** Drops so many of the newest blocks with what they held. Returns how much of what was sent was in them. */
  reorganise(depth: number): Promise<number>
  /** Whose receipts the chain has now, of those that were sent. */
  standing(): Promise<Set<SentCoins>>
  /** From now on this address refuses coins, until a reorganisation takes that back. */
  refuse(address: string): Promise<void>
  /** Wei of each. */
  balancesOf(addresses: readonly string[]): Promise<bigint[]>
  mine(count: number): Promise<void>
  /** No more blocks. */
  rest(): Promise<void>
}

const CHAIN_ID = 31_337
/** From block to block. */
const BLOCK_MS = 500
const PRICE = 100n * 10n ** 9n
/** Sends on what it gets, to the address in the first word. */
const FORWARDER = { address: `0x${'fe'.repeat(20)}`, code: '0x6000600060006000346000355af100' }
/** Takes nothing. */
const REFUSER = '0x60006000fd'
/** The share of what is dropped that is never sent again. */
const LOST = 0.3

/** An account that nobody else has, and the same for the same seed. */
export const accountOf = (name: string): RelayAccount =>
  createRelayAccount(createHash('sha256').update(name).digest('hex'))

/** A chain on which `senders` accounts can each send once, and the treasury holds `funds` wei beside what comes in. */
export async function openCoinChain(
  { rpcUrl, blocks }: Pick<Parts, 'rpcUrl' | 'blocks'>,
  random: Random,
  { seed, senders, treasury, funds }: { seed: string; senders: number; treasury: string; funds: bigint },
): Promise<CoinChain> {
  const rpc = createRpc({ url: rpcUrl })
  const accounts = Array.from({ length: senders }, (_, index) => accountOf(`${seed}/sender ${index}`))
  for (const { address } of accounts) await rpc.call('anvil_setBalance', address, quantity(10n * COIN))
  await rpc.call('anvil_setBalance', treasury, quantity(funds))
  await rpc.call('anvil_setCode', FORWARDER.address, FORWARDER.code)
  await rpc.call('anvil_mine', quantity(DEEPEST + 5))
  await blocks.every(BLOCK_MS)
  const sent: SentCoins[] = []
  const left = new Set<string>()

  const broadcast = async (raw: Uint8Array) => {
    const [outcome] = await rpc.batch([{ method: 'eth_sendRawTransaction', params: [toHex(raw)] }])
    if (outcome?.error && !/already|known|nonce too low/i.test(outcome.error.message))
      throw new Error(`The chain refused coins of the proof: ${outcome.error.message}`)
  }
  const readReceipts = async (some: readonly SentCoins[]) => {
    const outcomes = await rpc.batch(some.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
    const receipts = outcomes.map((outcome) => resultOf<Receipt | null>(outcome))
    // A node may show one of a block that it has dropped.
    const numbers = receipts.flatMap((receipt) => (receipt ? [Number(receipt.blockNumber)] : []))
    const canonical = await readBlockHashes(rpc, [...new Set(numbers)])
    return receipts.map((receipt) =>
      receipt && canonical.get(Number(receipt.blockNumber)) === receipt.blockHash ? receipt : null,
    )
  }
  const standing = async () => {
    const receipts = await readReceipts(sent)
    return new Set(sent.filter((_, index) => receipts[index]?.status === '0x1'))
  }

  return {
    rpc,
    sent,
    async send(kind, to, value) {
      const from = accounts[sent.length]
      if (!from) throw new Error('Nobody is left who has coins to send.')
      const isForwarded = kind === 'CONTRACT'
      const { hash, raw } = signTransaction(from, {
        ...{ chainId: CHAIN_ID, nonce: 0, value, maxFeePerGas: PRICE, maxPriorityFeePerGas: 10n ** 9n },
        to: isForwarded ? FORWARDER.address : to,
        data: isForwarded ? `0x${to.slice(2).toLowerCase().padStart(64, '0')}` : '0x',
        gasLimit: isForwarded ? 100_000n : 21_000n,
      })
      const one = { kind, to, value, hash, raw, isLost: false }
      sent.push(one)
      await broadcast(raw)
      return one
    },
    included: (one) =>
      until('coins are in a block', async () => one.isLost || (await standing()).has(one), 30_000, 100),
    leave(address) {
      left.add(address)
    },
    async holds(depth) {
      const head = Number(await rpc.call<string>('eth_blockNumber'))
      return (await readReceipts(sent)).some((receipt) => {
        const above = receipt ? head - Number(receipt.blockNumber) : depth
        return above >= Math.floor(depth / 2) && above < depth
      })
    },
    async reorganise(depth) {
      const before = await standing()
      await blocks.change(() => rpc.call('anvil_reorg', depth, []))
      const after = await standing()
      const dropped = sent.filter((each) => before.has(each) && !after.has(each))
      for (const each of sent) {
        if (after.has(each)) continue
        // What was never in a block is on its way still, and whatever is lost stays so.
        if (before.has(each) && !each.isLost) each.isLost = random.next() < LOST
        if (each.kind === 'CONTRACT' && left.has(each.to)) each.isLost = true
        if (!each.isLost) await broadcast(each.raw)
      }
      return dropped.length
    },
    standing,
    async refuse(address) {
      await blocks.change(() => rpc.call('anvil_setCode', address, REFUSER))
    },
    async balancesOf(addresses) {
      const outcomes = await rpc.batch(
        addresses.map((address) => ({ method: 'eth_getBalance', params: [address, 'latest'] })),
      )
      return outcomes.map((outcome) => BigInt(resultOf<string>(outcome)))
    },
    async mine(count) {
      await blocks.change(() => rpc.call('anvil_mine', quantity(count)))
    },
    rest: () => blocks.every(0),
  }
}
