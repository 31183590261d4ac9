/** Reads the registry like an external reader. */
import { readFile } from 'node:fs/promises'
import { getCreateAddress } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRelayAccount, toHex } from '../../../src/chain/keys.ts'
import {
  commitTopics,
  decodeGetCommits,
  encodeCommit,
  encodeGetCommits,
  registryBytecode,
} from '../../../src/chain/registry/abi.ts'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { quantity } from '../../../src/chain/rpc.ts'
import { signTransaction } from '../../../src/chain/transaction.ts'
import { relayKeys, startChain, type TestChain } from '../../support/chain/anvil.ts'

const account = createRelayAccount(relayKeys[0]!)
const nid = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const other = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4'

let chain: TestChain
let nonce: number

beforeEach(async () => {
  chain = await startChain({ args: ['--no-mining'] })
  nonce = 0
})
afterEach(() => chain.stop())

const send = async (data: string, to?: string) => {
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const plan = { ...fees, chainId: 31337, nonce, to, data, gasLimit: 1_000_000n }
  await chain.rpc.call('eth_sendRawTransaction', toHex(signTransaction(account, plan).raw))
  nonce += 1
}
const mine = () => chain.rpc.call('evm_mine')

const write = async (bytecode: string, blocks: string[][]) => {
  await send(bytecode)
  await mine()
  const registry = getCreateAddress({ from: account.address, nonce: 0 })
  let count = 0
  for (const block of blocks) {
    for (const asset of block) await send(encodeCommit(asset, `commit ${++count}`), registry)
    await mine()
  }
  return registry
}

const readAsNit = async (registry: string) => {
  const answer = await chain.rpc.call<string>('eth_call', { to: registry, data: encodeGetCommits(nid) }, 'latest')
  const logs: unknown[] = []
  for (const block of decodeGetCommits(answer).map(quantity)) {
    const filter = { address: registry, fromBlock: block, toBlock: block, topics: commitTopics(nid) }
    logs.push(...(await chain.rpc.call<unknown[]>('eth_getLogs', filter)))
  }
  return logs
}

const readAsWe = async (registry: string) =>
  (await createRegistry({ rpcUrl: chain.url, address: registry }).readCommits(nid)).map(({ text }) => text)

const blocks = [[nid], [nid, nid, other, nid], [other, other], [nid, nid]]
const texts = [1, 2, 3, 5, 8, 9].map((number) => `commit ${number}`)

describe('registry readers', () => {
  it('a registry reader reads each commit once, even if a block contains several commits of one asset', async () => {
    const registry = await write(registryBytecode, blocks)
    expect(await readAsNit(registry)).toHaveLength(texts.length)
    expect(await readAsWe(registry)).toEqual(texts)
  })

  it('the built-in registry reader reads each commit once, even if the registry lists its block several times', async () => {
    const artefact = await readFile(new URL('../../support/chain/earlier-registry.json', import.meta.url), 'utf8')
    expect(await readAsWe(await write(JSON.parse(artefact).bytecode, blocks))).toEqual(texts)
  })
})
