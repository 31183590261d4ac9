import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { storeSigned } from '../../../src/chain/relay/relay.sql.ts'
import { failCommit } from '../../../src/modules/commits/commits.sql.ts'
import { relayKeys } from '../../support/chain/anvil.ts'
import { all, chain, relayUntilFinal, useRelayScene, world } from '../../support/chain/relay-scene.ts'
import { eventually, until } from '../../support/eventually.ts'

useRelayScene()

describe('relay', () => {
  it("the relay keeps the order of each asset's commits across several lanes and batches", async () => {
    // Enough assets that several lanes are used.
    const assets = await world.addCommits(24, 5)
    await relayUntilFinal(120, chain.url)
    const registry = createRegistry({ rpcUrl: chain.url, database: world.database })
    const lanes = new Set<string>()
    for (const { nid } of assets) {
      const commits = await registry.readCommits(nid)
      expect(commits.map(({ commitData }) => commitData?.abstract)).toEqual(
        Array.from({ length: 5 }, (_, index) => `change ${index + 1}`),
      )
      for (const { recorder } of commits) lanes.add(recorder)
    }
    expect(lanes.size).toBe(relayKeys.length)
  })

  it('the relay sends a new commit soon after its notification', async () => {
    const asset = await world.addAsset(await world.addUser())
    const relay = world.relay(chain.url)
    await eventually(async () => relay.status().registry, Boolean)
    for (let round = 1; round <= 3; round += 1) {
      await world.addCommit(asset)
      relay.wake()
      await eventually(world.statuses, all('FINAL', round))
    }
  })

  it('the relay sends a commit that another process accepted, without a notification', async () => {
    const asset = await world.addAsset(await world.addUser())
    const relay = world.relay(chain.url)
    await eventually(async () => relay.status().registry, Boolean)
    await world.addCommit(asset)
    await eventually(world.statuses, all('FINAL', 1))
  })

  it('two relays on one database send each commit once, and one relay continues when the other stops', async () => {
    const [asset] = await world.addCommits(1, 40)
    const relays = [world.relay(chain.url), world.relay(chain.url)]
    await eventually(world.statuses, all('FINAL', 40))
    for (const each of relays) await until('it is started', () => each.status().state !== 'starting')
    const leader = relays.find((each) => each.status().lanes.some(({ isHeld }) => isHeld))
    await leader?.stop()
    for (let round = 0; round < 40; round += 1) if (asset) await world.addCommit(asset)
    await eventually(world.statuses, all('FINAL', 80))
    const commits = await createRegistry({ rpcUrl: chain.url, database: world.database }).readCommits(asset?.nid ?? '')
    expect(commits.map(({ commitData }) => commitData?.abstract)).toEqual(
      Array.from({ length: 80 }, (_, index) => `change ${index + 1}`),
    )
  })

  it('the relay fails and refunds a commit once if the key of its author no longer exists', async () => {
    const owner = await world.addUser()
    const commit = await world.addCommit(await world.addAsset(owner))
    const before = await world.sql('select num::text from wallets')
    expect(before).toEqual([{ num: '999.821000000000000000' }])
    await world.sql('delete from user_keys')
    world.relay(chain.url)
    await eventually(world.statuses, all('FAILED', 1))
    const failure = 'the author’s key no longer exists'
    expect(await world.sql('select failure from commit_relays')).toEqual([{ failure }])
    expect(await world.sql('select num::text from wallets')).toEqual([{ num: '1000.000000000000000000' }])
    expect(await world.sql('select reference from transfers order by 1')).toEqual([
      { reference: `commit:${commit}` },
      { reference: `refund:${commit}` },
    ])
    const sums = 'select coalesce(wallet_id::text, book::text) as account, sum(amount)::float8 from entries group by 1'
    const balanced = [owner.id, 'REVENUE', 'GAS'].map((account) => ({ account, sum: 0 }))
    expect(await world.sql(sums)).toEqual(expect.arrayContaining(balanced))
  })

  it('the relay never fails, refunds or re-signs a commit that is on the chain', async () => {
    await world.addCommits(1, 1)
    world.relay(chain.url)
    await eventually(world.statuses, (found) => found.FINAL === 1)
    const look = () =>
      world.sql<{ commit_id: string; lane: string }>('select commit_id, lane, nonce, status::text from commit_relays')
    const [before] = await look()
    expect(await world.database.query(failCommit, { commit: before!.commit_id, reason: 'a mistake' })).toEqual([])
    const values = {
      ...{ lane: before!.lane, commits: [before!.commit_id], commitNonces: [99], positions: [0] },
      ...{ nonces: [99], hashes: ['0x99'], raws: [Buffer.from('bytes')], fees: ['1'], tips: ['1'] },
    }
    expect(await world.database.query(storeSigned, values)).toEqual([])
    expect(await look()).toEqual([before])
    expect(await world.sql(`select reference from transfers where reference like 'refund:%'`)).toEqual([])
  })

  it('the relay sends the commits of a deleted asset, and erases their contents when they are final', async () => {
    const asset = await world.addAsset(await world.addUser())
    await world.addCommit(asset, 'private words')
    await world.sql('update assets set deleted_at = now()')
    await relayUntilFinal(1, chain.url)
    expect(await world.sql('select tree, message from commits')).toEqual([{ tree: '', message: '' }])
    expect(await world.sql('select * from pins')).toEqual([])
    expect(await createRegistry({ rpcUrl: chain.url, database: world.database }).readCommits(asset.nid)).toHaveLength(1)
  })

  it('the relay marks no commit final before the required number of confirmations', async () => {
    const [asset] = await world.addCommits(2, 1)
    const relay = world.relay(chain.url, { confirmations: 5 })
    await eventually(world.statuses, all('INCLUDED', 2))
    const [first] = await world.sql<{ commit_id: string; block_number: number }>(
      'select commit_id, block_number from commit_relays order by block_number limit 1',
    )
    const find = 'select status::text from commit_relays where commit_id = $1::uuid'
    const statusOf = async (commit: string) => (await world.sql<{ status: string }>(find, [commit]))[0]?.status
    await chain.rpc.call('evm_setAutomine', false)
    const head = async () => Number(await chain.rpc.call<string>('eth_blockNumber'))
    for (let depth = (await head()) - first!.block_number; depth < 5; depth += 1) {
      // A pass first settles commits, and then sends commits that were accepted before the pass.
      await until('the relay saw the block', () => relay.status().headNumber === first!.block_number + depth)
      const later = await world.addCommit(asset!)
      await until('it is sent', async () => (await statusOf(later)) === 'BROADCAST')
      expect([depth, await statusOf(first!.commit_id)]).toEqual([depth, 'INCLUDED'])
      await chain.rpc.call('evm_mine')
    }
    await until('it is final', async () => (await statusOf(first!.commit_id)) === 'FINAL')
  })

  it('the relay reports a missing or invalid registry address clearly', async () => {
    await world.addCommits(1, 1)
    const relay = world.relay(chain.url, { address: '0x000000000000000000000000000000000000dEaD' })
    await eventually(async () => relay.status().lastError, Boolean)
    expect(relay.status().lastError).toMatch(
      /^CHAIN_REGISTRY_ADDRESS says 0x0+dEaD, but on chain 31337 there is no contract/,
    )
    expect(await world.statuses()).toEqual({ PENDING: 1 })
  })
})
