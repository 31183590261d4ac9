/** The setup of relay tests: a new database and chain for each test, and a connection that can be disturbed. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import type { Relay } from '../../../src/chain/relay/relay-parts.ts'
import { type ChainProxy, startChainProxy } from '../chain-proxy.ts'
import { eventually } from '../eventually.ts'
import { startChain, type TestChain } from './anvil.ts'
import { startServer, type TestAsset, type TestServer, type World } from './world.ts'

/** Members of the scene of the current test. */
export let server: TestServer
export let world: World
export let chain: TestChain
export let proxy: ChainProxy

export function useRelayScene(): void {
  let closing: (() => Promise<void>)[]
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    closing = []
    ;[world, chain] = await Promise.all([server.createWorld(), startChain()])
    proxy = await startChainProxy((close) => closing.push(close), chain.url)
  })
  afterEach(async () => {
    // `close` fails if a test left the database open. The chain must be stopped anyway.
    await world.close().finally(() => Promise.all([chain.stop(), ...closing.map((close) => close())]))
  })
}

export const all =
  (status: string, count: number) =>
  (seen: Record<string, number>): boolean =>
    seen[status] === count

/** Starts a relay, and waits until it has a registry. */
export async function startRelay(...options: Parameters<World['relay']>): Promise<Relay> {
  const relay = world.relay(...options)
  await eventually(async () => relay.status().registry, Boolean)
  return relay
}

export async function messagesOf({ nid }: TestAsset, { url }: TestChain = chain) {
  const commits = await createRegistry({ rpcUrl: url, database: world.database }).readCommits(nid)
  return commits.map(({ commitData }) => commitData?.abstract)
}

export async function expectWhole(assets: readonly TestAsset[], on: TestChain = chain): Promise<void> {
  for (const asset of assets) {
    const expected = Array.from({ length: asset.sequence }, (_, index) => `change ${index + 1}`)
    expect(await messagesOf(asset, on)).toEqual(expected)
  }
}

/** Starts a relay, and waits until this number of commits is final. */
export async function relayUntilFinal(count: number, ...options: Parameters<World['relay']>): Promise<Relay> {
  const relay = world.relay(...options)
  await eventually(world.statuses, all('FINAL', count))
  return relay
}

/** Waits until this number of commits is final, and checks that the chain has every commit of the assets. */
export async function expectFinal(count: number, assets: readonly TestAsset[]): Promise<void> {
  await eventually(world.statuses, all('FINAL', count))
  await expectWhole(assets)
}
