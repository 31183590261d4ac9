import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { quantity } from '../../src/chain/rpc.ts'
import { startChain } from '../support/chain/anvil.ts'
import {
  all,
  chain,
  expectFinal,
  expectWhole,
  proxy,
  relayUntilFinal,
  startRelay,
  useRelayScene,
  world,
} from '../support/chain/relay-scene.ts'
import { cuts, hangs, html, losesReply, onChain, onlyTo, refuses } from '../support/chain-faults.ts'
import { type Fault, isSending } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const transactions = () =>
  world.sql<{ commit_id: string; hash: string; nonce: number; status: string; fee: string; tip: string }>(
    `select t.commit_id, t.hash, r.nonce, r.status::text, t.max_fee_per_gas::text as fee, t.max_priority_fee_per_gas::text as tip
     from chain_transactions t join commit_relays r using (commit_id) order by r.lane, r.nonce, t.created_at, t.max_fee_per_gas`,
  )

const noncesByCommit = async () =>
  Object.fromEntries((await transactions()).map(({ commit_id, nonce }) => [commit_id, nonce]))

describe('relay with a faulty network', () => {
  it('the relay creates one event after a lost reply, with or without a crash', async () => {
    let sendings = 0
    proxy.fault = onlyTo((call) => isSending(call) && ++sendings % 2 === 0, losesReply)
    const assets = await world.addCommits(4, 15)
    for (let lives = 0; lives < 3; lives += 1) {
      const relay = world.relay(proxy.url)
      const faults = proxy.faults
      await eventually(() => proxy.faults > faults)
      if (lives < 2) {
        await relay.stop()
        for (const asset of assets) for (let round = 0; round < 10; round += 1) await world.addCommit(asset)
      }
    }
    await expectFinal(140, assets)
  })

  const outages: [string, Fault][] = [
    ['refuses connections', cuts],
    ['answers HTML', html],
  ]
  it.each(outages)('the relay waits while the node %s, logs the problem once, and continues', async (_, fault) => {
    const relay = await startRelay(proxy.url)
    proxy.fault = fault
    const assets = await world.addCommits(2, 2)
    relay.wake()
    await eventually(() => proxy.faults >= 3)
    expect(relay.status()).toMatchObject({
      state: 'waiting',
      lastError: expect.stringMatching(/^The chain is not available right now/),
    })
    expect(world.log.lines.filter(({ message }) => message.startsWith('Relay failed'))).toHaveLength(1)
    expect(await world.statuses()).toEqual({ PENDING: 4 })
    proxy.fault = undefined
    await expectFinal(4, assets)
    expect(relay.status()).toMatchObject({ state: 'working', lastError: null })
  })

  it('the relay stops without waiting for a hanging node', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
    onTestFinished(() => void vi.restoreAllMocks())
    const relay = await startRelay(proxy.url)
    proxy.fault = hangs
    await world.addCommits(1, 1)
    relay.wake()
    await eventually(() => proxy.faults > 0)
    await relay.stop()
    expect(relay.status().state).toBe('stopped')
  })

  it('the relay signs nothing on a different chain, after a restart or a node change', async () => {
    const isRefused = (lastError: string | null) =>
      /on chain 31337, but the node at \S+ is on chain 1\./.test(lastError ?? '')
    const first = await startRelay(proxy.url)
    await first.stop()
    proxy.fault = onChain(1)
    const assets = await world.addCommits(2, 2)
    const relay = world.relay(proxy.url)
    await eventually(async () => relay.status().lastError, isRefused)
    expect(await world.statuses()).toEqual({ PENDING: 4 })
    expect(await transactions()).toEqual([])
    proxy.fault = undefined
    await expectFinal(4, assets)

    proxy.fault = onChain(1)
    await world.addCommits(1, 1)
    relay.wake()
    await eventually(async () => relay.status().lastError, isRefused)
    expect(await world.statuses()).toEqual({ FINAL: 4, PENDING: 1 })
    expect(world.log.lines.filter(({ level }) => level === 'error')).toHaveLength(2)
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 5))
  })

  it.each([1, 4, 11])('the relay sends commits again after a reorganization of %i blocks', async (depth) => {
    // The deepest one also removes the deployment of the registry.
    await chain.rpc.call('anvil_mine', quantity(6))
    const assets = await world.addCommits(3, 4)
    const relay = world.relay(chain.url, { confirmations: 30 })
    await eventually(world.statuses, all('INCLUDED', 12))
    await chain.rpc.call('anvil_mine', quantity(1))
    for (const asset of assets) await world.addCommit(asset)
    relay.wake()
    await eventually(world.statuses, all('INCLUDED', 15))
    const before = await noncesByCommit()
    // On a fast machine, all commits are in a few blocks.
    const height = Number(await chain.rpc.call<string>('eth_blockNumber'))
    if (height < depth) await chain.rpc.call('anvil_mine', quantity(depth - height))
    await chain.rpc.call('anvil_reorg', depth, [])
    await eventually(() => world.log.lines.some(({ message }) => message.startsWith('Chain reorganization')))
    await eventually(world.statuses, all('INCLUDED', 15))
    await eventually(async () => {
      await chain.rpc.call('anvil_mine', quantity(31))
      return (await world.statuses()).FINAL === 15
    })
    expect(await noncesByCommit()).toEqual(before)
    await expectWhole(assets)
  })

  it('the relay raises fees at the same nonce when the base fee exceeds the offered fee', async () => {
    const relay = await startRelay(chain.url, { commitsPerTransaction: 1 })
    await chain.rpc.call('evm_setAutomine', false)
    const assets = await world.addCommits(2, 3)
    relay.wake()
    await eventually(world.statuses, all('BROADCAST', 6))
    const first = await transactions()
    for (const factor of [10n, 40n]) {
      const known = (await transactions()).length
      await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(BigInt(first[0]?.fee ?? 0) * factor))
      await chain.rpc.call('evm_mine')
      await eventually(transactions, (rows) => rows.length === known + 6)
    }
    await eventually(async () => {
      await chain.rpc.call('evm_mine')
      return (await world.statuses()).FINAL === 6
    })
    const byCommit = Map.groupBy(await transactions(), ({ commit_id }) => commit_id)
    expect(byCommit.size).toBe(6)
    for (const { nonce, commit_id } of first) {
      const tries = byCommit.get(commit_id) ?? []
      expect(tries.map((each) => each.nonce)).toEqual([nonce, nonce, nonce])
      for (const [index, later] of tries.slice(1).entries()) {
        expect(BigInt(later.fee) * 1000n).toBeGreaterThanOrEqual(BigInt(tries[index]?.fee ?? 0) * 1125n)
        expect(BigInt(later.tip) * 1000n).toBeGreaterThanOrEqual(BigInt(tries[index]?.tip ?? 0) * 1125n)
      }
    }
    await expectWhole(assets)
  })

  it('the relay raises fees at the same nonce if the node keeps rejecting the transaction', async () => {
    const relay = await startRelay(proxy.url)
    proxy.fault = onlyTo(isSending, refuses({ code: -32000, message: 'transaction underpriced' }))
    const assets = await world.addCommits(1, 1)
    relay.wake()
    await eventually(transactions, (rows) => rows.length === 2)
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 1))
    const [first, second] = await transactions()
    expect(BigInt(second?.fee ?? 0) * 1000n).toBeGreaterThanOrEqual(BigInt(first?.fee ?? 0) * 1125n)
    expect(second?.nonce).toBe(first?.nonce)
    await expectWhole(assets)
  })

  it.each([
    ['rate limit with code -32007', { code: -32007, message: '50/second request limit reached' }],
    [
      'rate limit in the message',
      { code: -32000, message: '429 Too Many Requests: {"error":{"message":"over rate limit"}}' },
    ],
    ['an outage', { code: -32603, message: 'internal error' }],
    ['empty account on Nethermind', { code: -32010, message: 'InsufficientFunds, Account balance: 0' }],
  ])('the relay does not raise fees for an error that is not about the price: %s', async (_, error) => {
    const relay = await startRelay(proxy.url)
    const assets = await world.addCommits(1, 1)
    proxy.fault = onlyTo(isSending, refuses(error))
    relay.wake()
    await eventually(() => proxy.faults >= 10)
    expect(await transactions()).toHaveLength(1)
    proxy.fault = undefined
    await expectFinal(1, assets)
  })

  it.each([
    ['has no balance', { code: -32000, message: 'insufficient funds for gas * price + value' }],
    ['gets an internal error', { code: -32603, message: 'internal error' }],
  ])(
    'the relay does not raise fees for a transaction that the node dropped, while its account %s',
    async (_, error) => {
      const relay = await startRelay(proxy.url)
      await chain.rpc.call('evm_setAutomine', false)
      const assets = await world.addCommits(1, 1)
      relay.wake()
      await eventually(world.statuses, all('BROADCAST', 1))
      proxy.fault = onlyTo(isSending, refuses(error))
      const [lost] = await transactions()
      await chain.rpc.call('anvil_dropTransaction', lost!.hash)
      const known = await eventually(transactions, (rows) => rows.length === 2)
      await world.sql(`update chain_transactions set created_at = created_at - interval '1 hour'`)
      await chain.rpc.call('anvil_mine', quantity(5))
      const { faults } = proxy
      await eventually(() => proxy.faults >= faults + 10)
      expect(await transactions()).toHaveLength(known.length)
      proxy.fault = undefined
      await chain.rpc.call('evm_setAutomine', true)
      await expectFinal(1, assets)
    },
  )

  it(`the relay treats "already known" errors as sent, including Nethermind's wording`, async () => {
    const relay = await startRelay(proxy.url)
    const known = refuses({ code: -32010, message: 'AlreadyKnown' })
    proxy.fault = onlyTo(isSending, async (calls, pass) => {
      await pass()
      return known(calls, pass)
    })
    const assets = await world.addCommits(1, 1)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 1))
    expect(world.log.lines.filter(({ message }) => /rejected a transaction/.test(message))).toEqual([])
    await expectWhole(assets)
  })

  it('the relay signs nothing above the maximum fee', async () => {
    const first = await startRelay(chain.url)
    await first.stop()
    await chain.rpc.call('evm_mine')
    // The node lowers the fee with every block, and no block may bring it below the limit.
    const raiseFee = () => chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(600_000_000_000n))
    await raiseFee()
    await world.addCommits(1, 1)
    world.relay(chain.url, { maxFeePerGas: 5_000_000_000n })
    await eventually(async () => {
      await raiseFee()
      return world.log.lines.some(({ message }) => message.startsWith('The base fee is above'))
    })
    expect(await transactions()).toEqual([])
    await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(1_000_000_000n))
    await eventually(world.statuses, all('FINAL', 1))
  })

  it('the relay refunds a commit after three final transactions without effect', async () => {
    const relay = await startRelay(chain.url)
    const { registry } = relay.status()
    await chain.rpc.call('anvil_setCode', registry, '0xfe')
    await world.addCommits(1, 1)
    relay.wake()
    await eventually(world.statuses, all('FAILED', 1))
    const tries = await transactions()
    expect(tries).toHaveLength(3)
    expect(await world.sql('select failure from commit_relays')).toEqual([
      { failure: expect.stringMatching(/^the transaction 0x\w{64} had no effect$/) },
    ])
    expect(await world.sql('select num::text from wallets')).toEqual([{ num: '1000.000000000000000000' }])
  })

  it('the relay works with a registry from the genesis block without state', async () => {
    const [asset] = await world.addCommits(1, 1)
    const first = await relayUntilFinal(1, chain.url)
    const address = first.status().registry ?? ''
    await first.stop()
    await chain.rpc.call('anvil_setNonce', address, '0x0')
    expect(Number(await chain.rpc.call<string>('eth_getTransactionCount', address, 'latest'))).toBe(0)
    await world.addCommit(asset!)
    await relayUntilFinal(2, chain.url, { address })
  })

  it('the relay sends all stored transactions again to a chain that lost everything', async () => {
    const assets = await world.addCommits(6, 5)
    const relay = await relayUntilFinal(30, chain.url, { doubtPatience: 100 })
    const before = await noncesByCommit()
    const { registry } = relay.status()
    const port = Number(new URL(chain.url).port)
    await chain.stop()
    const emptied = await startChain({ port })
    onTestFinished(() => emptied.stop())
    for (const asset of assets) await world.addCommit(asset)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 36))
    await eventually(async () => Number(await chain.rpc.call<string>('eth_blockNumber')) > 0)
    await expectWhole(assets)
    expect(relay.status().registry).toBe(registry)
    expect(await noncesByCommit()).toMatchObject(before)
  })

  it('the relay sends final commits again that the chain lost, even without new commits', async () => {
    const assets = await world.addCommits(3, 2)
    const pauses = { idle: 20, resting: 50, waiting: 20, sent: 5, woken: 5, longestBackoff: 40 }
    const relay = await relayUntilFinal(6, chain.url, { doubtPatience: 100, pauses })
    const before = await noncesByCommit()
    const saved = await chain.rpc.call<string>('evm_snapshot')
    for (const asset of assets) await world.addCommit(asset)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 9))
    await chain.rpc.call('evm_revert', saved)
    await eventually(async () => (await expectWhole(assets).catch(() => 'incomplete')) === undefined)
    await eventually(world.statuses, all('FINAL', 9))
    expect(await noncesByCommit()).toMatchObject(before)
  })

  it('the relay continues after losing the connection of its lease', async () => {
    const assets = await world.addCommits(2, 2)
    const relay = await relayUntilFinal(4, chain.url)
    await world.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'annal relay%' and datname = current_database()`,
    )
    for (const asset of assets) await world.addCommit(asset)
    relay.wake()
    await expectFinal(6, assets)
  })
})
