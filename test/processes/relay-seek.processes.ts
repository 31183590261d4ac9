import { describe, expect, it } from 'vitest'
import { createRelayAccount, toHex } from '../../src/chain/keys.ts'
import { encodeCommit } from '../../src/chain/registry/abi.ts'
import { createRegistry } from '../../src/chain/registry/registry.ts'
import { createHistories } from '../../src/chain/relay/find-on-chain.ts'
import { signTransaction } from '../../src/chain/transaction.ts'
import { LostKeyError } from '../../src/shared/errors.ts'
import { relayKeys } from '../support/chain/anvil.ts'
import { all, chain, messagesOf, proxy, relayUntilFinal, useRelayScene, world } from '../support/chain/relay-scene.ts'
import type { TestAsset, World } from '../support/chain/world.ts'
import { onlyTo, page, refuses, rewriting } from '../support/chain-faults.ts'
import { isSending, type RpcRequest } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const options = { relayKeys: relayKeys.slice(0, 1), receiptPatience: 50 }

const isReceipt = (result: unknown) => typeof result === 'object' && result !== null && 'cumulativeGasUsed' in result

const isRead = ({ method }: RpcRequest) => method === 'eth_call'

const signatures = () =>
  world.sql<{ commit_id: string; hash: string }>('select commit_id, hash from chain_transactions order by created_at')

describe('commits without a receipt', () => {
  it('a commit without a receipt is found in the registry and not signed again', async () => {
    proxy.fault = rewriting((_, result) => (isReceipt(result) ? null : result))
    const [asset] = await world.addCommits(1, 3)
    await relayUntilFinal(3, proxy.url, { ...options, commitsPerTransaction: 1 })
    expect(await signatures()).toHaveLength(3)
    expect(await messagesOf(asset!)).toEqual(['change 1', 'change 2', 'change 3'])
  })

  it('a commit without a receipt stays pending while the node cannot report who used its nonce', async () => {
    let asked = 0
    // The node returns only the transaction count of the account.
    proxy.fault = rewriting((_, result) => {
      if (isReceipt(result)) return null
      if (Array.isArray(result)) return []
      const isFullBlock = typeof result === 'object' && result !== null && 'transactions' in result
      if (isFullBlock) asked += 1
      return isFullBlock ? { ...result, transactions: [] } : result
    })
    const [asset] = await world.addCommits(1, 1)
    world.relay(proxy.url, options)
    await eventually(world.statuses, (seen) => seen.BROADCAST === 1)
    const before = asked
    await eventually(() => asked > before + 20)
    expect(await world.statuses()).toEqual({ BROADCAST: 1 })
    expect(await signatures()).toHaveLength(1)
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 1))
    expect(await messagesOf(asset!)).toEqual(['change 1'])
  })

  it('a commit without a receipt is signed again if another transaction used its nonce', async () => {
    const relay = world.relay(proxy.url, options)
    await eventually(async () => relay.status().registry, Boolean)
    await chain.rpc.call('evm_setAutomine', false)
    proxy.fault = onlyTo(isSending, refuses({ code: -1, message: 'no' }))
    const asset = await world.addAsset(await world.addUser())
    await world.addCommit(asset)
    relay.wake()
    await eventually(signatures, (rows) => rows.length > 0)
    const account = createRelayAccount(relayKeys[0]!)
    const nonce = Number(await chain.rpc.call<string>('eth_getTransactionCount', account.address, 'latest'))
    const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 9_000_000_000n }
    const foreign = { ...fees, chainId: 31337, nonce, to: account.address, data: '0x', gasLimit: 21_000n }
    await chain.rpc.call('eth_sendRawTransaction', toHex(signTransaction(account, foreign).raw))
    await chain.rpc.call('evm_mine')
    await chain.rpc.call('evm_setAutomine', true)
    proxy.fault = undefined
    await eventually(world.statuses, all('FINAL', 1))
    expect(await messagesOf(asset)).toEqual(['change 1'])
  })
})

describe('database restored from before its commits were sent', () => {
  /** Resets the commits to the state when they were accepted, like an old dump. */
  const restore = async () => {
    await world.sql('delete from chain_transaction_members')
    await world.sql('delete from chain_transactions')
    await world.sql(
      `update commit_relays set status = 'PENDING', lane = null, nonce = null, position = 0, transaction_hash = null,
         block_number = null, block_hash = null`,
    )
    await world.sql(`delete from key_values where key = 'relay:ahead'`)
  }

  /** Sends commits until they are final, and restores the database from before they were sent. */
  const sendAndRestore = async (count: number, each: number, own: Parameters<World['relay']>[1] = options) => {
    const assets = await world.addCommits(count, each)
    await (await relayUntilFinal(count * each, chain.url, own)).stop()
    await restore()
    return assets
  }

  it('a restored database finds its commits on the chain, and signs only missing commits', async () => {
    const assets = await world.addCommits(3, 4)
    const first = await relayUntilFinal(12, chain.url, options)
    const before = await world.sql('select commit_id, nonce, transaction_hash from commit_relays order by commit_id')
    await first.stop()
    await restore()

    await relayUntilFinal(12, chain.url, { ...options, commitsPerTransaction: 1 })
    expect(await signatures()).toEqual([])
    expect(await world.sql('select commit_id, nonce, transaction_hash from commit_relays order by commit_id')).toEqual(
      before,
    )
    for (const asset of assets) await world.addCommit(asset)
    await eventually(world.statuses, all('FINAL', 15))
    expect(await signatures()).toHaveLength(3)
    for (const asset of assets) expect(await messagesOf(asset)).toHaveLength(5)
  })

  it.each([
    ['replaced', [1], false],
    ['supplemented by a second key', [1, 0], false],
    ['replaced and its address is configured in lower case', [1], true],
  ])(
    'a restored database finds its commits even if the relay key was %s since the backup',
    async (_, later, isLowerCase) => {
      const assets = await sendAndRestore(4, 2)

      const { address } = createRelayAccount(relayKeys[0]!)
      const earlierRelays = [isLowerCase ? address.toLowerCase() : address]
      await relayUntilFinal(8, chain.url, {
        ...options,
        relayKeys: later.map((index) => relayKeys[index]!),
        earlierRelays,
      })
      expect(await signatures()).toEqual([])
      for (const asset of assets) await world.addCommit(asset)
      await eventually(world.statuses, all('FINAL', 12))
      for (const asset of assets) expect(await messagesOf(asset)).toEqual(['change 1', 'change 2', 'change 3'])
    },
  )

  it('marks commits final that another account sent, on an idle chain', async () => {
    await sendAndRestore(40, 1)
    await world.sql(`delete from commit_relays where commit_id in (
      select c.id from commits c join assets a on a.id = c.asset_id where (hashtextextended(a.nid, 0) & 9223372036854775807) % 2 = 1)`)
    const [left] = await world.sql<{ count: number }>('select count(*)::int from commit_relays')

    await relayUntilFinal(left!.count, chain.url, { ...options, relayKeys: [relayKeys[1]!, relayKeys[0]!] })
    expect(await signatures()).toEqual([])
  })

  it('reads the history of an asset once for all of its commits', async () => {
    await sendAndRestore(1, 12)
    let reads = 0
    proxy.fault = (calls) => {
      if (calls.some(isRead)) reads += 1
      return undefined
    }
    await relayUntilFinal(12, proxy.url, options)
    expect(reads).toBeLessThan(6)
  })

  /** Another account writes commits of an asset in this number of blocks. */
  const writeAbout = async ({ nid }: TestAsset, blocks: number) => {
    const [from] = await chain.rpc.call<string[]>('eth_accounts').then((accounts) => accounts.slice(-1))
    const registry = createRegistry({ rpcUrl: chain.url, database: world.database })
    const to = await registry.findAddress(await registry.readChainId())
    for (let written = 0; written < blocks; written += 1)
      await chain.rpc.call('eth_sendTransaction', { from, to, data: encodeCommit(nid, `${written}`), gas: '0x7a120' })
  }

  it('a restored database finds its commits step by step in a history that an attacker made long', async () => {
    const [asset, other] = await world.addCommits(2, 1)
    await (await relayUntilFinal(2, chain.url, options)).stop()
    await writeAbout(asset!, 230)
    const again = world.relay(chain.url, options)
    await world.addCommit(asset!)
    await eventually(world.statuses, all('FINAL', 3))
    await again.stop()
    await restore()

    const { readOwn } = createRegistry({ rpcUrl: proxy.url, database: world.database })
    const recorders = new Set([createRelayAccount(relayKeys[0]!).address])
    let asked = 0
    proxy.fault = (calls) => {
      asked += calls.filter(({ method }) => method === 'eth_getLogs').length
      return undefined
    }
    const read = createHistories(readOwn)(recorders)
    expect(await read(asset!.nid)).toBeUndefined()
    expect(asked).toBeLessThanOrEqual(200)
    expect((await read(asset!.nid))!.map(({ commitData }) => commitData?.abstract)).toEqual(['change 1', 'change 2'])

    world.relay(chain.url, options)
    await world.addCommit(other!)
    await eventually(world.statuses, all('FINAL', 4))
    expect(await signatures()).toHaveLength(1)
  })

  it('a restored database finds its commits in the event log if the registry cannot list so many', async () => {
    await sendAndRestore(2, 2)
    proxy.fault = onlyTo(isRead, refuses({ code: -32_000, message: 'EVM error OutOfGas' }))
    await relayUntilFinal(4, proxy.url, options)
    expect(await signatures()).toEqual([])
  })

  it('a restored database waits for transactions in the mempool instead of reusing their nonce', async () => {
    const [asset] = await world.addCommits(1, 2)
    const first = await relayUntilFinal(2, chain.url, options)
    await chain.rpc.call('evm_setAutomine', false)
    await world.addCommit(asset!)
    first.wake()
    await eventually(world.statuses, (seen) => seen.BROADCAST === 1)
    await first.stop()
    await restore()

    const second = world.relay(chain.url, options)
    await eventually(
      async () => (await world.sql(`select value from key_values where key = 'relay:ahead'`)).length === 1,
    )
    expect(await signatures()).toEqual([])
    await chain.rpc.call('evm_mine')
    await chain.rpc.call('evm_setAutomine', true)
    second.wake()
    await eventually(world.statuses, all('FINAL', 3))
    expect(await signatures()).toEqual([])
    expect(await messagesOf(asset!)).toEqual(['change 1', 'change 2', 'change 3'])
  })

  it.each([
    ['whose author’s key is missing', false],
    ['whose author’s key was destroyed with the account', true],
  ])('a restored database finds commits %s instead of refunding the commits', async (_, isForGood) => {
    const [asset] = await world.addCommits(1, 2)
    await (await relayUntilFinal(2, chain.url, options)).stop()
    const signed = await world.sql('select commit_id, tree_signature from commit_relays order by commit_id')
    await restore()
    await world.sql('update commit_relays set tree_signature = null, attempts = 90')
    await world.sql('delete from pins')
    const sign = () => Promise.reject(new LostKeyError('There is no key share.', { isForGood }))
    await relayUntilFinal(2, chain.url, { ...options, custody: { ...world.custody, sign } })
    expect(await world.sql('select commit_id, tree_signature from commit_relays order by commit_id')).toEqual(signed)
    expect(await world.sql(`select 1 from transfers where reference like 'refund:%'`)).toEqual([])
    expect(await world.sql(`select 1 from pins where kind = 'TREE'`)).toHaveLength(2)
    expect(await messagesOf(asset!)).toEqual(['change 1', 'change 2'])
  })

  it('marks found commits final on an idle chain while other blocks are read', async () => {
    const [asset] = await sendAndRestore(1, 2)
    await world.sql('update commit_relays set tree_signature = null, attempts = 90')
    const [late] = await world.sql<{ commit_id: string }>('select commit_id from commit_relays order by commit_id desc')
    await world.sql(`update commit_relays set next_attempt_at = now() + interval '1 hour' where commit_id = $1`, [
      late!.commit_id,
    ])
    const isLook = ({ method, params }: RpcRequest) => method === 'eth_getBlockByNumber' && params[1] === false
    const noted = Promise.withResolvers<void>()
    let isHeld = false
    // Delays only the response for the block of the first commit until the second one is included.
    proxy.fault = async (calls, pass) => {
      const [seen] = await world.sql<{ count: number }>(
        `select count(*)::int as count from commit_relays where status = 'INCLUDED'`,
      )
      if (isHeld || seen!.count === 0 || !calls.every(isLook)) return undefined
      isHeld = true
      const replies = await pass()
      await world.sql(`update commit_relays set next_attempt_at = now() - interval '1 ms' where status = 'PENDING'`)
      await noted.promise
      return replies
    }
    const sign = () => Promise.reject(new LostKeyError('There is no key share.', { isForGood: false }))
    world.relay(proxy.url, { ...options, custody: { ...world.custody, sign } })
    await eventually(world.statuses, (seen) => seen.INCLUDED === 2)
    noted.resolve()
    await eventually(world.statuses, all('FINAL', 2))
    expect(await signatures()).toEqual([])
    expect(await messagesOf(asset!)).toEqual(['change 1', 'change 2'])
  })

  it('refunds no commit while the chain is unavailable', async () => {
    await world.addCommits(1, 1)
    await world.sql('update commit_relays set attempts = 90')
    const sign = () => Promise.reject(new LostKeyError('There is no key share.'))
    proxy.fault = page(200, 'text/plain', 'no node here')
    world.relay(proxy.url, { ...options, custody: { ...world.custody, sign } })
    await eventually(
      async () =>
        (
          await world.sql<{ last_error: string | null }>('select last_error from commit_relays')
        )[0]?.last_error?.includes('The chain') === true,
    )
    proxy.fault = undefined
    const tryNow = () => world.sql(`update commit_relays set next_attempt_at = now() - interval '1 ms'`)
    await eventually(async () => (await tryNow().then(world.statuses)).FAILED === 1)
  })

  it('ignores copies of a commit by other recorders', async () => {
    const [asset] = await sendAndRestore(1, 1, { ...options, relayKeys: [relayKeys[1]!] })
    await world.sql(`insert into key_values (key, value) values ('relay:ahead', now()::text)`)
    await relayUntilFinal(1, chain.url, options)
    expect(await signatures()).toHaveLength(1)
    expect(await messagesOf(asset!)).toHaveLength(2)
  })
})
