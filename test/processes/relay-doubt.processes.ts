import { describe, expect, it } from 'vitest'
import { createRandom } from '../../proofs/harness/random.ts'
import type { Relay } from '../../src/chain/relay/relay-parts.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { relayKeys } from '../support/chain/anvil.ts'
import {
  all,
  chain,
  messagesOf,
  proxy,
  relayUntilFinal,
  startRelay,
  useRelayScene,
  world,
} from '../support/chain/relay-scene.ts'
import { cuts, lagging, miscounts, onlyTo, rewriting } from '../support/chain-faults.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const options = { relayKeys: relayKeys.slice(0, 1), commitsPerTransaction: 1 }
const random = createRandom('lag')
const lastErrorOf = (relay: Relay) => eventually(async () => relay.status().lastError ?? '', Boolean)
const isDisplaced = () => world.log.lines.some(({ message }) => message.startsWith('Chain reorganization'))
const nonces = async () =>
  (await world.sql<{ nonce: number }>('select nonce from commit_relays order by nonce')).map(({ nonce }) => nonce)
const meets = async (faults: number) => {
  const before = proxy.faults
  await eventually(() => proxy.faults - before >= faults)
}
async function rests(relay: Relay) {
  const since = performance.now()
  relay.wake()
  await eventually(
    async () => relay.status().stepAge,
    (age) => age !== null && age < performance.now() - since,
  )
}

describe('node that lags behind other nodes', () => {
  it('a lagging node does not revert final commits, and causes no new signature', async () => {
    const [asset] = await world.addCommits(1, 3)
    const relay = await relayUntilFinal(3, proxy.url, options)
    await chain.rpc.call('anvil_mine', quantity(4))
    await world.addCommit(asset!)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 4))
    await rests(relay)
    proxy.fault = lagging(random, () => 5, 1)
    await world.addCommit(asset!)
    relay.wake()
    expect(await lastErrorOf(relay)).toMatch(/is lower than before/)
    expect(await world.statuses()).toEqual({ FINAL: 4, PENDING: 1 })
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 5))
    expect(await nonces()).toEqual([1, 2, 3, 4, 5])
    expect(await messagesOf(asset!)).toHaveLength(5)
  })

  it('a process that starts meanwhile detects a lagging node', async () => {
    const [asset] = await world.addCommits(1, 3)
    await (await relayUntilFinal(3, proxy.url, options)).stop()
    const [newest] = await world.sql<{ number: number }>('select max(block_number)::int as number from commit_relays')
    const head = Number(await chain.rpc.call('eth_blockNumber'))
    proxy.fault = lagging(random, () => head - newest!.number + 1, 1)
    await world.addCommit(asset!)
    expect(await lastErrorOf(world.relay(proxy.url, options))).toMatch(/is lower than before/)
    expect(await world.statuses()).toEqual({ FINAL: 3, PENDING: 1 })
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 4))
  })

  it('a lagging node behind a load balancer does not revert a block that it lacks', async () => {
    const [asset] = await world.addCommits(1, 1)
    const relay = world.relay(proxy.url, { ...options, confirmations: 8 })
    await eventually(world.statuses, all('INCLUDED', 1))
    const behind = lagging(random, () => 9, 1)
    proxy.fault = (calls, pass) =>
      calls.some(({ method }) => method === 'eth_chainId' || method === 'eth_sendRawTransaction')
        ? undefined
        : behind(calls, pass)
    await chain.rpc.call('anvil_mine', quantity(2))
    relay.wake()
    await meets(5)
    expect(isDisplaced()).toBe(false)
    expect(await world.statuses()).toEqual({ INCLUDED: 1 })
    proxy.fault = undefined
    await chain.rpc.call('anvil_mine', quantity(8))
    await eventually(world.statuses, all('FINAL', 1))
    expect(await messagesOf(asset!)).toHaveLength(1)
  })

  it('a lagging node causes no second registry deployment if it lacks the first deployment', async () => {
    const first = await startRelay(proxy.url, options)
    const { registry } = first.status()
    await first.stop()
    const behind = onlyTo(
      ({ method }) => method === 'eth_getCode',
      lagging(random, () => 1, 1),
    )
    proxy.fault = (calls, pass) => (proxy.faults === 0 ? behind(calls, pass) : undefined)
    const [asset] = await world.addCommits(1, 1)
    const second = await relayUntilFinal(1, proxy.url, options)
    expect(proxy.faults).toBe(1)
    expect(second.status().registry).toBe(registry)
    expect(await messagesOf(asset!)).toHaveLength(1)
  })
})

describe('node without a block at some height', () => {
  it('reports a node without a block at some height, and sends the commits of that block again', async () => {
    const [asset] = await world.addCommits(1, 2)
    const patient = { ...options, gapPatience: 50, confirmations: 4 }
    const relay = world.relay(proxy.url, patient)
    await eventually(world.statuses, all('INCLUDED', 2))
    const block = Number(await chain.rpc.call('eth_blockNumber'))
    await chain.rpc.call('anvil_mine', quantity(1))
    // Otherwise the relay may first see the lower head during the reorganization.
    await eventually(() => relay.status().headNumber === block + 1)
    // The node is unreachable during the reorganization, so that the relay never sees the lower head in between.
    proxy.fault = cuts
    await chain.rpc.call('anvil_reorg', 2, [])
    proxy.fault = rewriting(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === quantity(block) ? null : result,
    )
    await world.addCommit(asset!)
    relay.wake()
    await eventually(() => world.log.lines.some(({ message }) => message.startsWith('The node lacks a block')))
    await meets(3)
    expect(isDisplaced()).toBe(false)
    await relay.stop()
    world.relay(proxy.url, { ...patient, doubtPatience: 100 })
    await eventually(isDisplaced)
    await eventually(async () => {
      await chain.rpc.call('anvil_mine', quantity(1))
      return (await world.statuses()).FINAL === 3
    })
    expect(await nonces()).toEqual([1, 2, 3])
    expect(await messagesOf(asset!)).toHaveLength(3)
  })
})

describe('node that returns a wrong transaction count', () => {
  it('a transaction count that is too low fills no nonce gap and reverts nothing', async () => {
    const [asset] = await world.addCommits(1, 3)
    const relay = await relayUntilFinal(3, proxy.url, options)
    await rests(relay)
    proxy.fault = miscounts(-2)
    await world.addCommit(asset!)
    relay.wake()
    expect(await lastErrorOf(relay)).toMatch(/returned contradictory responses/)
    expect(await world.statuses()).toEqual({ FINAL: 3, PENDING: 1 })
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 4))
    expect(proxy.sent).toHaveLength(5)
    expect(await nonces()).toEqual([1, 2, 3, 4])
  })

  it('a transaction count that is too high causes no nonce gap', async () => {
    const [asset] = await world.addCommits(1, 2)
    const relay = await relayUntilFinal(2, proxy.url, options)
    await rests(relay)
    proxy.fault = miscounts(3)
    await world.addCommit(asset!)
    relay.wake()
    await eventually(() => world.log.lines.some(({ fields }) => 'count' in fields && fields.count === 6))
    await meets(3)
    expect(await world.statuses()).toEqual({ FINAL: 2, PENDING: 1 })
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 3))
    expect(await nonces()).toEqual([1, 2, 3])
    expect(await messagesOf(asset!)).toHaveLength(3)
  })
})
