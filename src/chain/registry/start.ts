/**
 * At which block the registry was deployed: its log is read from there, and not from the chain's first block. Found by halving the chain by
 * whether there is code, on a node that keeps old state, or noted when we deployed it; and remembered with the block's hash.
 */
import type { Database } from '../../db/database-types.ts'
import { findSetting, replaceSetting, settingKeys } from '../../db/key-value-store.ts'
import type { FullBlockReply, ReceiptReply } from '../replies.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../rpc.ts'

interface Place {
  rpc: Rpc
  database?: Database | undefined
  chainId: number
  /** Of the registry. */
  address: string
}

interface PlacedStart {
  number: number
  hash: string
}

/** The name under which it is remembered. */
const settingOf = ({ chainId, address }: Place) => `${settingKeys.registryStart}${chainId}:${address}`

const readBlock = (rpc: Rpc, number: number) =>
  rpc.call<FullBlockReply | null>('eth_getBlockByNumber', quantity(number), true)

/** Whether a transaction of the block made the contract. */
async function isMadeIn({ rpc, address }: Place, { transactions }: FullBlockReply): Promise<boolean> {
  const makers = transactions.filter(({ to }) => to === null)
  const outcomes = await rpc.batch(makers.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
  return outcomes.some(
    (outcome) => resultOf<ReceiptReply | null>(outcome)?.contractAddress?.toLowerCase() === address.toLowerCase(),
  )
}

/**
 * The first block with code at the address, which must be the one that made it: some nodes answer "no code" for what they do not keep. So a
 * contract that another one made is not found.
 */
async function seek(place: Place): Promise<PlacedStart | undefined> {
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

/** Remembers the block of a deployment of ours, if the node knows it. Raises UNAVAILABLE. */
export async function noteStart(place: Place, transactionHash: string): Promise<void> {
  const receipt = await place.rpc.call<ReceiptReply | null>('eth_getTransactionReceipt', transactionHash)
  if (receipt) await remember(place, { number: Number(receipt.blockNumber), hash: receipt.blockHash })
}

/**
 * Whether a chain is the one on which this database's registry was deployed. Chains of several installations can have a registry at the same
 * address.
 */
export async function isChainOf(place: Place): Promise<boolean> {
  const { rpc, database, address } = place
  if ((await rpc.call<string>('eth_getCode', address, 'latest')) === '0x') return false
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  const block = number === undefined ? null : await readBlock(rpc, Number(number))
  return block === null || block.hash === hash
}

/** The registry's first block; undefined when the node does not tell. Raises UNAVAILABLE. */
export async function findStart(place: Place): Promise<number | undefined> {
  const { rpc, database } = place
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  // A chain that began anew has another block there.
  if (number !== undefined && (await readBlock(rpc, Number(number)))?.hash === hash) return Number(number)
  const found = await seek(place)
  if (found) await remember(place, found)
  return found?.number
}
