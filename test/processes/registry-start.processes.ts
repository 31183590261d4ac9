import { afterEach, expect, it } from 'vitest'
import type { Poller } from '../../src/chain/poller.ts'
import { createRegistry } from '../../src/chain/registry/registry.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { relayKeys } from '../support/chain/anvil.ts'
import { chain, proxy, relayUntilFinal, useRelayScene, world } from '../support/chain/relay-scene.ts'
import { refusesOnly, rewriting } from '../support/chain-faults.ts'
import type { RpcRequest } from '../support/chain-proxy.ts'

useRelayScene()
const watchers: Poller[] = []
afterEach(async () => {
  await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()))
})

const mine = async (blocks: number) => {
  for (let left = blocks; left > 0; left -= 50) await chain.rpc.call('anvil_mine', quantity(Math.min(left, 50)))
}
const headOf = async () => Number(await chain.rpc.call<string>('eth_blockNumber'))

const settleAfter = async (blocks: number) => {
  await mine(blocks)
  const before = await headOf()
  const [asset] = await world.addCommits(1, 1)
  await (await relayUntilFinal(1, chain.url, { relayKeys: [relayKeys[0]!] })).stop()
  return { asset: asset!, before }
}
const registryOf = (start?: number) => createRegistry({ rpcUrl: proxy.url, database: world.database, start })
const startOf = async (registry = registryOf()) => {
  const chainId = await registry.readChainId()
  return registry.findStart((await registry.findAddress(chainId))!, chainId)
}
const forget = () => world.sql(`delete from key_values where key like 'registry-start:%'`)

it("stores the registry's start block at deployment, and otherwise finds it by binary search", async () => {
  const { before } = await settleAfter(150)
  const start = await startOf()
  expect(start).toBe(before + 1)
  await forget()
  expect(await startOf()).toBe(start)
  const [row] = await world.sql<{ value: string }>(`select value from key_values where key like 'registry-start:%'`)
  expect(row!.value).toMatch(new RegExp(`^${start} 0x[0-9a-f]{64}$`))
  await world.sql(`update key_values set value = '3 0xabcd' where key like 'registry-start:%'`)
  expect(await startOf()).toBe(start)
})

it("does not guess the registry's start block without archive state, and the operator configures it", async () => {
  await settleAfter(30)
  await forget()
  await mine(20)
  const isOld = ({ method, params }: RpcRequest) =>
    method === 'eth_getCode' && params[1] !== 'latest' && Number(params[1]) < 45
  proxy.fault = refusesOnly(isOld, { code: -32_000, message: 'missing trie node' })
  expect(await startOf()).toBeUndefined()
  proxy.fault = rewriting((call, result) => (isOld(call) ? '0x' : result))
  expect(await startOf()).toBeUndefined()
  expect(await startOf(registryOf(12))).toBe(12)
  expect(await world.sql(`select from key_values where key like 'registry-start:%'`)).toEqual([])
})
