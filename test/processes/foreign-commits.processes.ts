/** What others commit to files of ours, on a registry that everybody writes to. */
import { afterEach, describe, expect, it } from 'vitest'
import { createForeignWatcher, type ForeignWatcherOptions } from '../../src/chain/foreign/commits.ts'
import { readCommitLog } from '../../src/chain/foreign/log.ts'
import { readAgain, readForeignState } from '../../src/chain/foreign/statements.ts'
import { createRelayAccount } from '../../src/chain/keys.ts'
import { commitTopic, encodeCommit, encodeCommits } from '../../src/chain/registry/abi.ts'
import { createRegistry } from '../../src/chain/registry/registry.ts'
import { quantity } from '../../src/chain/rpc.ts'
import type { Watch } from '../../src/chain/watch.ts'
import { relayKeys, type TestChain } from '../chain/support/anvil.ts'
import { all, useRelayScene } from '../chain/support/relay-scene.ts'
import type { TestAsset, World } from '../chain/support/world.ts'
import { refusesOnly } from '../support/chain-faults.ts'
import type { ChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'

let world: World
let chain: TestChain
let proxy: ChainProxy
useRelayScene((scene) => {
  ;({ world, chain, proxy } = scene)
})

const watchers: Watch[] = []
// Before the database goes.
afterEach(async () => {
  await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()))
})

const addresses = relayKeys.map((key) => createRelayAccount(key).address)

/** Files of ours with so many commits each on the chain. */
const settle = async (assets: number, each: number, key = 0) => {
  const made = await world.addCommits(assets, each)
  const relay = world.relay(chain.url, { relayKeys: [relayKeys[key]!], commitsPerTransaction: 1 })
  await eventually(world.statuses, all('FINAL', assets * each))
  return { assets: made, relay }
}

const watch = (options: Partial<ForeignWatcherOptions> & { rpcUrl?: string } = {}) => {
  const { database, databaseUrl, log } = world
  const registry = createRegistry({ rpcUrl: options.rpcUrl ?? chain.url, database })
  const watcher = createForeignWatcher({
    ...{ database, databaseUrl, log, registry, own: [addresses[0]!], pollEvery: 20, pageSize: 2, ...options },
  })
  watcher.start()
  watchers.push(watcher)
  return watcher
}

/** Somebody else sends this to the registry; it is mined at once. */
const send = async (data: string) => {
  const accounts = await chain.rpc.call<string[]>('eth_accounts')
  const registry = createRegistry({ rpcUrl: chain.url, database: world.database })
  const to = await registry.findAddress(await registry.readChainId())
  await chain.rpc.call('eth_sendTransaction', { from: accounts.at(-1), to, data, gas: quantity(25_000_000) })
}
const write = ({ nid }: Pick<TestAsset, 'nid'>, text: string) => send(encodeCommit(nid, text))

interface Row {
  nid: string
  data: string
  data_bytes: number
  block_number: number
}
const found = () =>
  world.sql<Row>('select nid, data, data_bytes, block_number from foreign_commits order by block_number, log_index')
const tells = (...texts: string[]) =>
  eventually(
    async () => (await found()).map(({ data }) => data),
    (seen) => JSON.stringify(seen) === JSON.stringify(texts),
  )
/** All is read: every past, and every block. */
const hasRead = () =>
  eventually(
    async () => {
      const [state] = await world.database.query(readForeignState)
      return { state, head: Number(await chain.rpc.call('eth_blockNumber')) }
    },
    ({ state, head }) => state?.block === head && state.unread === 0 && !state.again,
  )

describe('commits by others', () => {
  it('are found from before and after a file was registered, and none of our own is among them', async () => {
    const { assets } = await settle(2, 2)
    const [asset, other] = assets
    await write(asset!, 'before the first look')
    await write({ nid: 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy' }, 'of no file of ours')
    watch()
    await tells('before the first look')
    await send(encodeCommits([asset!, other!].map(({ nid }) => ({ nid, commitData: 'two at once' }))))
    await tells('before the first look', 'two at once', 'two at once')

    // Registered here only after somebody had committed to it.
    const late = await world.addAsset(asset!.owner)
    await write(late, 'before it was registered')
    await hasRead()
    expect(await found()).toHaveLength(3)
    await world.addCommit(late)
    await eventually(world.statuses, all('FINAL', 5))
    await hasRead()
    await write(late, 'after it was registered')
    await tells(
      ...['before the first look', 'two at once', 'two at once', 'before it was registered', 'after it was registered'],
    )
    const rows = await world.sql('select recorder, transaction_hash, recorded_at from foreign_commits')
    for (const { recorder, recorded_at } of rows) {
      expect(addresses).not.toContain(recorder)
      expect(Math.abs(Date.now() - (recorded_at as Date).getTime())).toBeLessThan(3_600_000)
    }
  })

  it('are found for all files alike where the registry is young, however many there are', async () => {
    const { assets } = await settle(1, 1)
    const nids = await world.sql<{ nid: string }>(
      `insert into assets select (jsonb_populate_record(a, jsonb_build_object('id', uuidv7(), 'nid', a.nid || n))).*
       from assets a, generate_series(1, 1100) n where a.id = $1 returning nid`,
      [assets[0]!.id],
    )
    const last = nids
      .map(({ nid }) => nid)
      .toSorted()
      .at(-1)!
    await write({ nid: last }, 'before the first look')
    let asked = 0
    proxy.fault = (calls) => {
      asked += calls.filter(({ method }) => method === 'eth_call').length
      return undefined
    }
    watch({ rpcUrl: proxy.url })
    await tells('before the first look')
    await hasRead()
    expect(asked).toBe(0)
    await write({ nid: last }, 'after it')
    await tells('before the first look', 'after it')
  })

  it('are forgotten with the blocks that the chain loses, and found anew where they are', async () => {
    const { assets } = await settle(1, 1)
    watch()
    await write(assets[0]!, 'stays')
    await tells('stays')
    const before = await chain.rpc.call('evm_snapshot')
    const lost = ['is lost', 'is lost, too', 'and more', 'and more than two pages']
    for (const text of lost) await write(assets[0]!, text)
    await chain.rpc.call('anvil_mine', quantity(3))
    await tells('stays', ...lost)
    await chain.rpc.call('evm_revert', before)
    await write(assets[0]!, 'is elsewhere')
    await chain.rpc.call('anvil_mine', quantity(9))
    await tells('stays', 'is elsewhere')
    // Shorter than before, and as long.
    await chain.rpc.call('anvil_reorg', 10, [])
    await write(assets[0]!, 'is new')
    await chain.rpc.call('anvil_mine', quantity(1))
    await tells('stays', 'is new')
  })

  it.each([
    ['a few blocks', 1],
    ['all of them', Number.POSITIVE_INFINITY],
  ])(
    'are found anew when looking back over %s was broken off, also where the chain has its blocks again',
    async (_, most) => {
      const { assets } = await settle(2, 1)
      const stopped = watch({ rpcUrl: proxy.url })
      await write(assets[0]!, 'stays')
      await tells('stays')
      await hasRead()
      await chain.rpc.call('anvil_mine', quantity(1))
      await hasRead()
      await write(assets[1]!, 'comes back')
      await tells('stays', 'comes back')
      await hasRead()

      // All is done but for the last step.
      await world.sql(
        `create function break_off() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$`,
      )
      await world.sql(
        `create trigger break_off before insert or update on settings for each row when (new.key like 'foreign-commits:%')
       execute function break_off()`,
      )
      const head = Number(await chain.rpc.call('eth_blockNumber'))
      proxy.fault = async (calls, pass) => {
        const replies = await pass()
        for (const [index, { method }] of calls.entries()) {
          const block = replies[index]?.result as { number: string; hash: string } | null
          if (method === 'eth_getBlockByNumber' && block && Number(block.number) > head - most)
            block.hash = block.hash.replace(/.{8}$/, 'ffffffff')
        }
        return replies
      }
      await eventually(found, (rows) => rows.every(({ data }) => data !== 'comes back'))
      await stopped.stop()
      proxy.fault = undefined
      await world.sql('drop function break_off cascade')

      watch({ rpcUrl: proxy.url })
      await tells('stays', 'comes back')
      await hasRead()
    },
  )

  it('are read again from the earliest block that the operator named', async () => {
    const { assets } = await settle(1, 1)
    const stopped = watch()
    await write(assets[0]!, 'one')
    await tells('one')
    await chain.rpc.call('anvil_mine', quantity(3))
    await hasRead()
    await stopped.stop()
    await world.sql('delete from foreign_commits')
    await world.database.query(readAgain, { from: 1 })
    await world.database.query(readAgain, { from: Number(await chain.rpc.call('eth_blockNumber')) })
    watch()
    await tells('one')
  })

  it('that are hostile are kept in part, and stop none of the others', async () => {
    const { assets } = await settle(1, 1)
    const hex = (text: string) => Buffer.from(text).toString('hex')
    watch()
    // As many bytes as they replace.
    await send(encodeCommit(assets[0]!.nid, 'abcd').replace(hex('abcd'), 'ff00fe41'))
    await write(assets[0]!, `<script>${'x'.repeat(100_000)}`)
    await write(assets[0]!, 'decent')
    await eventually(found, (rows) => rows.length === 3)
    const [broken, long, decent] = await found()
    expect(broken).toMatchObject({ data: '\uFFFD\uFFFD\uFFFDA', data_bytes: 4 })
    expect([long!.data.length, long!.data_bytes, decent!.data]).toEqual([4_096, 100_008, 'decent'])
  })

  it('are found where the node cannot answer for many blocks at once, because strangers filled them', async () => {
    const { assets } = await settle(1, 1)
    watch({ rpcUrl: proxy.url })
    await hasRead()
    proxy.fault = (calls) => {
      const [filter] = calls.find(({ method }) => method === 'eth_getLogs')?.params ?? []
      const { fromBlock, toBlock } = (filter ?? {}) as Record<string, string>
      return Number(toBlock) - Number(fromBlock) > 3 ? { status: 502, type: 'text/plain', text: 'too much' } : undefined
    }
    await chain.rpc.call('anvil_mine', quantity(8))
    await write(assets[0]!, 'behind much of others')
    await tells('behind much of others')
    expect(proxy.faults).toBeGreaterThan(0)
  })

  it('are kept up to a thousand of one file, whose others are known to be missing', async () => {
    const { assets } = await settle(2, 1)
    watch()
    const some = (count: number) =>
      send(encodeCommits(Array.from({ length: count }, () => ({ nid: assets[0]!.nid, commitData: 'spam' }))))
    for (const count of [400, 400, 201]) await some(count)
    await write(assets[1]!, 'decent')
    await hasRead()
    expect((await found()).filter(({ data }) => data === 'decent')).toHaveLength(1)
    expect(await found()).toHaveLength(1_001)
    const cut = await world.sql<{ nid: string }>('select nid from watched_assets where cut_at is not null')
    expect(cut).toEqual([{ nid: assets[0]!.nid }])
  })

  it.each([
    ['allows short ranges only', 'eth_getLogs', false],
    ['has a registry that cannot list its commits', 'eth_call', true],
  ])('are found on a node that %s', async (_, method, isAlways) => {
    const { assets } = await settle(1, 1)
    await write(assets[0]!, 'long ago')
    await chain.rpc.call('anvil_mine', quantity(20))
    await write(assets[0]!, 'later')
    const spanOf = (filter: unknown) => {
      const { fromBlock, toBlock } = filter as Record<'fromBlock' | 'toBlock', string>
      return Number(toBlock) - Number(fromBlock)
    }
    proxy.fault = refusesOnly((call) => call.method === method && (isAlways || spanOf(call.params[0]) > 3), {
      code: -32_000,
      message: 'not that',
    })
    // Too much to be read for all files alike.
    watch({ rpcUrl: proxy.url, youngBlocks: 20 })
    await tells('long ago', 'later')
    await chain.rpc.call('anvil_mine', quantity(20))
    await write(assets[0]!, 'last')
    await tells('long ago', 'later', 'last')
  })

  it('are none that an earlier account of ours wrote, also where a backup does not know of it and the operator names it', async () => {
    const { assets, relay } = await settle(1, 2, 1)
    await relay.stop()
    // As of what was found on the chain after a restore: which account carried it is known, and not what was signed.
    await world.sql('delete from chain_transactions')
    const forgetful = watch()
    await hasRead()
    await write(assets[0]!, 'somebody else')
    await tells('somebody else')

    await world.sql(
      `update commit_relays set status = 'PENDING', lane = null, nonce = null, transaction_hash = null, block_number = null, block_hash = null`,
    )
    await world.database.query(readAgain, { from: 0 })
    await eventually(found, (rows) => rows.length === 3)
    await forgetful.stop()
    watch({ own: addresses })
    await tells('somebody else')
    await world.database.query(readAgain, { from: 0 })
    await hasRead()
    await tells('somebody else')
  })

  it('are read again from a block on when the operator wants it, and by another process when one stops', async () => {
    const { assets } = await settle(1, 1)
    const first = watch()
    await write(assets[0]!, 'one')
    await tells('one')
    await world.sql('delete from foreign_commits')
    await world.database.query(readAgain, { from: 1 })
    await tells('one')
    await first.stop()
    await write(assets[0]!, 'two')
    watch()
    await tells('one', 'two')
  })

  it('are told by logs that hold anything: what is no commit is none, and nothing raises', () => {
    const word = `0x${'0'.repeat(24)}${addresses[0]!.slice(2)}`
    const topics = [commitTopic, word, `0x${'ab'.repeat(32)}`]
    const place = { address: '0x4', transactionHash: '0x1', blockNumber: '0x2', blockHash: '0x3', logIndex: '0x0' }
    const read = (data: string, of = topics) => readCommitLog({ topics: of, data, ...place })
    for (const data of [
      '0x',
      '0x20',
      `0x${'f'.repeat(64)}`,
      `0x${'f'.repeat(128)}`,
      `0x${'0'.repeat(62)}20${'f'.repeat(64)}`,
    ])
      expect(read(data)).toMatchObject({ data: '', dataBytes: 0, recorder: addresses[0] })
    expect(read('0x', topics.slice(0, 2))).toBeUndefined()
    expect(read('0x', [commitTopic, '0x', topics[2]!])).toBeUndefined()
  })
})
