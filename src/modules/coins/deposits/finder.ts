/**
 * Finds deposits in blocks: the value of successful transactions to wallets' addresses, and `Transfer` events of the configured token. Coins that a
 * contract sends in an internal transfer are in neither. An operator credits them with `annal deposits credit`.
 */
import { getAddress, Interface } from 'ethers'
import {
  type BlockReply,
  type FullBlockReply,
  hasSucceeded,
  type LogReply,
  type ReceiptReply,
} from '../../../chain/replies.ts'
import { contradiction, quantity, type Rpc, type RpcOutcome, resultOf } from '../../../chain/rpc.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositBooks, FoundDeposit } from '../deposit-types.ts'

/** Decimals of the books: a token that has more could not be told to the last unit. */
const MOST_DECIMALS = 18
/** Position of a deposit of coins in its transaction. */
export const COIN_POSITION = -1
const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const transferTopic = erc20.getEvent('Transfer')!.topicHash
const decimalsCall = '0x313ce567'

interface Dependencies {
  rpc: Rpc
  books: Pick<DepositBooks, 'ours'>
  /** Address of the token that counts beside the chain's own coin; none when missing. */
  token: string | undefined
}

/**
 * How many decimals a token has. Raises an Error when there is no such token at the address, or when it has more than the books can tell;
 * UNAVAILABLE when the node does not answer.
 */
export async function readDecimals(rpc: Rpc, token: string): Promise<number> {
  const [outcome] = await rpc.batch([{ method: 'eth_call', params: [{ to: token, data: decimalsCall }, 'latest'] }])
  const answer = outcome?.error ? '0x' : resultOf<string>(outcome)
  const decimals = /^0x[\da-f]{64}$/i.test(answer) ? BigInt(answer) : undefined
  if (decimals === undefined) throw new Error(`CHAIN_TOKEN_ADDRESS: there is no ERC-20 token at ${token}.`)
  if (decimals > MOST_DECIMALS)
    throw new Error(`CHAIN_TOKEN_ADDRESS: ${token} has ${decimals} decimals; the books have ${MOST_DECIMALS}.`)
  return Number(decimals)
}

/** What of a token's events reached whom, each with its place among the token's events of its transaction. */
function readTransfers(logs: readonly LogReply[]) {
  const seen = new Map<string, number>()
  return logs
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .flatMap(({ topics, data, transactionHash }) => {
      const position = seen.get(transactionHash) ?? 0
      seen.set(transactionHash, position + 1)
      // Three topics: an event of the same name with others is of another kind of token.
      if (topics.length !== 3 || !/^0x[\da-f]{64}$/i.test(data)) return []
      return [{ transactionHash, position, address: getAddress(`0x${topics[2]!.slice(-40)}`), units: BigInt(data) }]
    })
}

/** What a deposit of tokens says that a transaction brings. */
export interface ToldTransfer {
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** Its place among the token's events of the transaction. */
  position: number
  /** Currency units, a decimal string. */
  amount: string
}

/** Whether a transaction with these events brings it, of whatever token that is: amounts are compared but for the token's decimals. */
export function bringsTokens(logs: readonly LogReply[], { address, position, amount }: ToldTransfer): boolean {
  const events = logs.filter(({ topics: [topic] }) => topic === transferTopic)
  const transfers = [...Map.groupBy(events, (event) => event.address).values()].flatMap(readTransfers)
  return transfers.some((each) => {
    const isSamePlace = each.address === address && each.position === position
    return isSamePlace && isEqualButForDecimals(toUnits(amount), each.units)
  })
}

const isEqualButForDecimals = (whole: bigint, units: bigint) =>
  Array.from({ length: MOST_DECIMALS + 1 }, (_, places) => units * 10n ** BigInt(places)).includes(whole)

/** Finds deposits in blocks. */
export function createDepositFinder({ rpc, books, token }: Dependencies) {
  let decimals: number | undefined

  /** Finds successful transactions that send coins to wallets. */
  const findCoins = async (blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> => {
    const all = blocks.flatMap((block) =>
      block.transactions.flatMap(({ hash, to, value }) =>
        to && BigInt(value) > 0n ? [{ block, hash, address: getAddress(to), value: BigInt(value) }] : [],
      ),
    )
    const ours = await books.ours([...new Set(all.map(({ address }) => address))])
    const candidates = all.filter(({ address }) => ours.has(address))
    const outcomes = await rpc.batch(
      candidates.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return candidates.flatMap(({ block, hash, address, value }, index) => {
      const receipt = resultOf<ReceiptReply | null>(outcomes[index])
      // Another node behind the same address, or the chain has just changed: the blocks are read again.
      if (receipt?.blockHash !== block.hash) throw contradiction(rpc)
      if (!hasSucceeded(receipt)) return []
      const coins = { kind: 'COIN' as const, transactionHash: hash, position: COIN_POSITION, address }
      return [{ ...coins, amount: fromUnits(value), ...placeOf(block) }]
    })
  }

  const readLogs = (block: BlockReply, outcome: RpcOutcome | undefined) => {
    const logs = resultOf<LogReply[]>(outcome)
    if (logs.some(({ blockHash }) => blockHash !== block.hash)) throw contradiction(rpc)
    return readTransfers(logs).map((transfer) => ({ ...transfer, block }))
  }

  const decimalsOf = async (address: string) => {
    decimals ??= await readDecimals(rpc, address)
    return decimals
  }

  const findTokens = async (blocks: readonly BlockReply[]): Promise<FoundDeposit[]> => {
    if (!token) return []
    const scale = 10n ** BigInt(MOST_DECIMALS - (await decimalsOf(token)))
    const outcomes = await rpc.batch(
      blocks.map(({ hash }) => ({
        method: 'eth_getLogs',
        params: [{ blockHash: hash, address: token, topics: [transferTopic] }],
      })),
    )
    const transfers = blocks
      .flatMap((block, index) => readLogs(block, outcomes[index]))
      .filter(({ units }) => units > 0n)
    const ours = await books.ours([...new Set(transfers.map(({ address }) => address))])
    return transfers
      .filter(({ address }) => ours.has(address))
      .map(({ block, transactionHash, position, address, units }) => ({
        ...{ kind: 'TOKEN' as const, transactionHash, position, address, amount: fromUnits(units * scale) },
        ...placeOf(block),
      }))
  }

  return {
    /** Raises an Error when the configured token is none that can be credited, UNAVAILABLE. */
    async assertToken(): Promise<void> {
      if (token) await decimalsOf(token)
    },

    /** Blocks in a row, each the next one's parent. Fewer when the node does not have all of them yet. Raises UNAVAILABLE. */
    async readBlocks(from: number, to: number): Promise<FullBlockReply[]> {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const outcomes = await rpc.batch(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
      )
      const blocks: FullBlockReply[] = []
      for (const outcome of outcomes) {
        const block = resultOf<FullBlockReply | null>(outcome)
        const parent = blocks.at(-1)
        if (!block || (parent && block.parentHash !== parent.hash)) break
        blocks.push(block)
      }
      return blocks
    },

    /** Returns the deposits of these blocks, sorted by block. Throws UNAVAILABLE, also when the node contradicts itself. */
    async find(blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> {
      const found = [...(await findCoins(blocks)), ...(await findTokens(blocks))]
      return found.sort((a, b) => a.blockNumber - b.blockNumber)
    },
  }
}

const placeOf = ({ number, hash }: BlockReply) => ({ blockNumber: Number(number), blockHash: hash })
