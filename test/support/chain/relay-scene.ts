/** The setup of relay tests: a new database and chain for each test, and a connection that can be disturbed. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import type { Relay } from '../../../src/chain/relay/relay-parts.ts'
import { type ChainProxy, startChainProxy } from '../chain-proxy.ts'
import { eventually } from '../eventually.ts'
import { startChain, type TestChain } from './anvil.ts'
import { startServer, type TestAsset, type TestServer, type World } from './world.ts'

export type RelayScene = { server: TestServer; world: World; chain: TestChain; proxy: ChainProxy }

export function useRelayScene(enter: (scene: RelayScene) => void): void {
  let server: TestServer
  let scene: RelayScene
  let closing: (() => Promise<void>)[]
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    closing = []
    const [world, chain] = await Promise.all([server.createWorld(), startChain()])
    const proxy = await startChainProxy((close) => closing.push(close), chain.url)
    scene = { server, world, chain, proxy }
    enter(scene)
  })
  afterEach(async () => {
    // `close` fails if a test left the database open. The chain must be stopped anyway.
    await scene.world.close().finally(() => Promise.all([scene.chain.stop(), ...closing.map((close) => close())]))
  })
}

export const all =
  (status: string, count: number) =>
  (seen: Record<string, number>): boolean =>
    seen[status] === count

export const hasRegistry = (relay: Relay) => eventually(async () => relay.status().registry, Boolean)

export async function messagesOn({ url }: TestChain, { database }: World, { nid }: TestAsset) {
  const commits = await createRegistry({ rpcUrl: url, database }).readCommits(nid)
  return commits.map(({ commitData }) => commitData?.abstract)
}

export async function expectWhole(chain: TestChain, world: World, assets: readonly TestAsset[]): Promise<void> {
  for (const asset of assets) {
    const expected = Array.from({ length: asset.sequence }, (_, index) => `change ${index + 1}`)
    expect(await messagesOn(chain, world, asset)).toEqual(expected)
  }
}
