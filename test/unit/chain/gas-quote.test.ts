/** The gas fee of a commit if the fee follows the chain. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createGasQuote, quoteGas } from '../../../src/chain/gas-quote.ts'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { startChain, type TestChain } from '../../support/chain/anvil.ts'
import { startServer, type TestServer, type World } from '../../support/chain/world.ts'
import { hangs } from '../../support/chain-faults.ts'
import { startChainProxy } from '../../support/chain-proxy.ts'
import { eventually } from '../../support/eventually.ts'

const gwei = 1_000_000_000n
const bounds = { least: 1_000n, most: 10n ** 18n }

describe('gas fee', () => {
  it('the gas fee is the current cost, rounded up to two digits and limited to its bounds', () => {
    expect(quoteGas(111_111n, { nextBaseFee: 9n * gwei, tip: gwei }, bounds, 0n)).toBe(1_200_000_000_000_000n)
    expect(quoteGas(100_000n, { nextBaseFee: 10n ** 14n, tip: 0n }, bounds, 0n)).toBe(10n ** 18n)
    expect(quoteGas(1n, { nextBaseFee: 1n, tip: 0n }, bounds, 0n)).toBe(1_000n)
  })

  it('the gas fee ignores small price changes and follows large ones', () => {
    const at = (nextBaseFee: bigint, before: bigint) => quoteGas(100_000n, { nextBaseFee, tip: 0n }, bounds, before)
    expect(at(105n * gwei, at(100n * gwei, 0n))).toBe(10n ** 16n)
    expect(at(96n * gwei, at(100n * gwei, 0n))).toBe(10n ** 16n)
    expect(at(120n * gwei, at(100n * gwei, 0n))).toBe(12n * 10n ** 15n)
    expect(at(80n * gwei, at(100n * gwei, 0n))).toBe(8n * 10n ** 15n)
  })
})

describe('gas fee of several processes', () => {
  let server: TestServer
  let world: World
  let chain: TestChain
  beforeAll(async () => {
    server = await startServer()
    ;[world, chain] = await Promise.all([server.createWorld(), startChain()])
  })
  afterAll(async () => {
    await world.close()
    await chain.stop()
    await server.stop()
  })

  it('all processes charge the same gas fee, and keep it while the chain is unavailable', async () => {
    await world.addCommits(1, 2)
    world.relay(chain.url)
    await eventually(world.statuses, (seen) => seen.FINAL === 2)
    const proxy = await startChainProxy(onTestFinished, chain.url)
    const registry = createRegistry({ rpcUrl: proxy.url, database: world.database })
    const options = { least: '0.000001', most: '1', first: '0.079' }
    const [one, other] = [
      createGasQuote(world.database, registry, options),
      createGasQuote(world.database, registry, options),
    ]
    expect(one.current()).toBe('0.079')
    await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800')
    await chain.rpc.call('evm_mine')
    await one.look()
    const [{ gas }] = (await world.sql<{ gas: number }>('select avg(gas_used)::float8 as gas from commit_relays')) as [
      { gas: number },
    ]
    // 100 gwei and a tip, for what they took.
    expect(Number(one.current()) / (gas * 88.5e-9)).toBeGreaterThan(0.95)
    expect(Number(one.current()) / (gas * 88.5e-9)).toBeLessThan(1.3)
    proxy.fault = hangs
    await other.look()
    expect(other.current()).toBe(one.current())
    await world.sql(
      `update key_values set value = split_part(value, ' ', 1) || ' 2020-01-01T00:00:00Z' where key = 'gas:quote'`,
    )
    proxy.fault = () => 'cut'
    await expect(other.look()).rejects.toThrow('The chain is not available')
    expect(other.current()).toBe(one.current())
    const bounded = createGasQuote(world.database, registry, { ...options, most: '0.001' })
    await expect(bounded.look()).rejects.toThrow('The chain is not available')
    expect(bounded.current()).toBe('0.001')
  })
})
