/**
 * Finds the block in which the registry was deployed, so that its log is not read from the chain's first block. A binary search for the
 * first block with code finds it on nodes that keep old state. Our own deployments store it, together with the block's hash.
 */
import type { Database } from '../../db/database-types.ts'
import { findSetting, keyValueKeys, replaceSetting } from '../../db/key-value-store.ts'
import type { FullBlockReply, ReceiptReply } from '../replies.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../rpc.ts'

interface Place {
  rpc: Rpc
  database?: Database | undefined
  chainId: number
  /** Address of the registry. */
  address: string
}

interface PlacedStart {
  number: number
  hash: string
}

/** Returns the key under which the block is stored. */
const settingOf = ({ chainId, address }: Place) => `${keyValueKeys.registryStart}${chainId}:${address}`

const readBlock = (rpc: Rpc, number: number) =>
  rpc.call<FullBlockReply | null>('eth_getBlockByNumber', quantity(number), true)

/** Returns true if a transaction of the block created the contract. */
async function isMadeIn({ rpc, address }: Place, { transactions }: FullBlockReply): Promise<boolean> {
  const makers = transactions.filter(({ to }) => to === null)
  const outcomes = await rpc.batch(makers.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
  return outcomes.some(
    (outcome) => resultOf<ReceiptReply | null>(outcome)?.contractAddress?.toLowerCase() === address.toLowerCase(),
  )
}

/**
 * Returns the first block with code at the address. It must contain the transaction that created the contract, because some nodes report
 * "no code" for blocks whose state they have pruned. A contract that was created by another contract is therefore not found.
 */
async function findFirstBlock(place: Place): Promise<PlacedStart | undefined> {
  const { rpc, address } = place
  const hasCodeAt = async (number: number) =>
    (await rpc.call<string>('eth_getCode', address, quantity(number))) !== '0x'
  try {
    let there = Number(await rpc.call<string>('eth_blockNumber'))
    if (!(await hasCodeAt(there))) return undefined
    for (let absent = -1; there - absent > 1; ) {
      const middle = Math.floor((there + absent) / 2)
      if (await hasCodeAt(middle)) there = middle
      else absent = middle
    }
    const block = await readBlock(rpc, there)
    return block && (await isMadeIn(place, block)) ? { number: there, hash: block.hash } : undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

const remember = async (place: Place, { number, hash }: PlacedStart) => {
  await place.database?.query(replaceSetting, { key: settingOf(place), value: `${number} ${hash}` })
}

/** Stores the block of our own deployment if the node has its receipt. Throws UNAVAILABLE. */
export async function noteStart(place: Place, transactionHash: string): Promise<void> {
  const receipt = await place.rpc.call<ReceiptReply | null>('eth_getTransactionReceipt', transactionHash)
  if (receipt) await remember(place, { number: Number(receipt.blockNumber), hash: receipt.blockHash })
}

/**
 * Returns true if this database's registry was deployed on this chain. Different chains can have a registry at the same address, so the
 * block's hash decides.
 */
export async function isChainOf(place: Place): Promise<boolean> {
  const { rpc, database, address } = place
  if ((await rpc.call<string>('eth_getCode', address, 'latest')) === '0x') return false
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  const block = number === undefined ? null : await readBlock(rpc, Number(number))
  return block === null || block.hash === hash
}

/** Returns the registry's first block. Undefined if the node cannot provide it. Throws UNAVAILABLE. */
export async function findStart(place: Place): Promise<number | undefined> {
  const { rpc, database } = place
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  // A chain that was reset has another block hash there.
  if (number !== undefined && (await readBlock(rpc, Number(number)))?.hash === hash) return Number(number)
  const found = await findFirstBlock(place)
  if (found) await remember(place, found)
  return found?.number
}
