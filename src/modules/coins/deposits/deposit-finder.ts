/** Finds deposits in blocks: values of successful transactions to wallets, and `Transfer` events of the token. Not internal transfers of contracts. */
import { getAddress, Interface } from 'ethers'
import type { BlockReply, FullBlockReply, LogReply, ReceiptReply, Rpc, RpcOutcome } from '../../../chain/rpc.ts'
import { contradiction, hasSucceeded, quantity, resultOf } from '../../../chain/rpc.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger, FoundDeposit } from '../deposit-ledger.ts'

/** Decimals of the ledger. Amounts of a token with more decimals could not be stored exactly. */
const MAX_DECIMALS = 18
/** Position of a deposit of coins in its transaction. */
export const COIN_POSITION = -1
const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const transferTopic = erc20.getEvent('Transfer')!.topicHash
const decimalsCall = '0x313ce567'

interface Parts {
  rpc: Rpc
  ledger: Pick<DepositLedger, 'findWallets'>
  /** Address of an ERC-20 token that is credited too. */
  token: string | undefined
}

/** Reads the decimals of a token. Throws an Error if the address has no ERC-20 token or the token has more than 18 decimals. Throws UNAVAILABLE. */
export async function readDecimals(rpc: Rpc, token: string): Promise<number> {
  const [outcome] = await rpc.batch([{ method: 'eth_call', params: [{ to: token, data: decimalsCall }, 'latest'] }])
  const answer = outcome?.error ? '0x' : resultOf<string>(outcome)
  const decimals = /^0x[\da-f]{64}$/i.test(answer) ? BigInt(answer) : undefined
  if (decimals === undefined) throw new Error(`CHAIN_TOKEN_ADDRESS: there is no ERC-20 token at ${token}.`)
  if (decimals > MAX_DECIMALS)
    throw new Error(`CHAIN_TOKEN_ADDRESS: ${token} has ${decimals} decimals; the ledger has ${MAX_DECIMALS}.`)
  return Number(decimals)
}

/** Reads the transfers from a token's events. `position`: index among the token's events of the transaction. */
function readTransfers(logs: readonly LogReply[]) {
  const seen = new Map<string, number>()
  return logs
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .flatMap(({ topics, data, transactionHash }) => {
      const position = seen.get(transactionHash) ?? 0
      seen.set(transactionHash, position + 1)
      // ERC-721 has an event with the same name and four topics.
      if (topics.length !== 3 || !/^0x[\da-f]{64}$/i.test(data)) return []
      return [{ transactionHash, position, address: getAddress(`0x${topics[2]!.slice(-40)}`), units: BigInt(data) }]
    })
}

/** A token transfer as a deposit has it. */
export interface ExpectedTransfer {
  /** Address of the wallet, with EIP-55 checksum. */
  address: string
  /** Index among the token's events of the transaction. */
  position: number
  /** Currency units, a decimal string. */
  amount: string
}

/** Returns true if these events contain the transfer, of any token. Amounts may differ by a power of ten, because the decimals are unknown. */
export function bringsTokens(logs: readonly LogReply[], { address, position, amount }: ExpectedTransfer): boolean {
  const events = logs.filter(({ topics: [topic] }) => topic === transferTopic)
  const transfers = [...Map.groupBy(events, (event) => event.address).values()].flatMap(readTransfers)
  return transfers.some((each) => {
    const isSamePlace = each.address === address && each.position === position
    return isSamePlace && isEqualUpToDecimals(toUnits(amount), each.units)
  })
}

const isEqualUpToDecimals = (whole: bigint, units: bigint) =>
  Array.from({ length: MAX_DECIMALS + 1 }, (_, places) => units * 10n ** BigInt(places)).includes(whole)

/** Creates the finder of deposits in blocks. */
export function createDepositFinder({ rpc, ledger, token }: Parts) {
  let decimals: number | undefined

  /** Finds successful transactions that send coins to wallets. */
  const findCoins = async (blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> => {
    const all = blocks.flatMap((block) =>
      block.transactions.flatMap(({ hash, to, value }) =>
        to && BigInt(value) > 0n ? [{ block, hash, address: getAddress(to), value: BigInt(value) }] : [],
      ),
    )
    const wallets = await ledger.findWallets([...new Set(all.map(({ address }) => address))])
    const candidates = all.filter(({ address }) => wallets.has(address))
    const outcomes = await rpc.batch(
      candidates.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return candidates.flatMap(({ block, hash, address, value }, index) => {
      const receipt = resultOf<ReceiptReply | null>(outcomes[index])
      // The node is behind a load balancer, or there was a reorg. The caller reads the blocks again.
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
    const scale = 10n ** BigInt(MAX_DECIMALS - (await decimalsOf(token)))
    const outcomes = await rpc.batch(
      blocks.map(({ hash }) => ({
        method: 'eth_getLogs',
        params: [{ blockHash: hash, address: token, topics: [transferTopic] }],
      })),
    )
    const transfers = blocks
      .flatMap((block, index) => readLogs(block, outcomes[index]))
      .filter(({ units }) => units > 0n)
    const wallets = await ledger.findWallets([...new Set(transfers.map(({ address }) => address))])
    return transfers
      .filter(({ address }) => wallets.has(address))
      .map(({ block, transactionHash, position, address, units }) => ({
        ...{ kind: 'TOKEN' as const, transactionHash, position, address, amount: fromUnits(units * scale) },
        ...placeOf(block),
      }))
  }

  return {
    /** Throws an Error if the configured token cannot be credited, and UNAVAILABLE. */
    async assertToken(): Promise<void> {
      if (token) await decimalsOf(token)
    },

    /** Reads consecutive blocks. Returns fewer if the node does not have all of them yet. Throws UNAVAILABLE. */
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

    /** Returns the deposits of these blocks, sorted by block. Throws UNAVAILABLE, also if the node's answers contradict each other. */
    async find(blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> {
      const found = [...(await findCoins(blocks)), ...(await findTokens(blocks))]
      return found.sort((a, b) => a.blockNumber - b.blockNumber)
    },
  }
}

const placeOf = ({ number, hash }: BlockReply) => ({ blockNumber: Number(number), blockHash: hash })
