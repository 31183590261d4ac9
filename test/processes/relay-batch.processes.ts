import { readFile } from 'node:fs/promises'
import { getCreateAddress } from 'ethers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRelayAccount, toHex } from '../../src/chain/keys.ts'
import { decodeCommits, registryBytecode } from '../../src/chain/registry/abi.ts'
import { createRegistry } from '../../src/chain/registry/registry.ts'
import { supportsBatches } from '../../src/chain/relay/send-commits.ts'
import { parseTransaction, signTransaction } from '../../src/chain/transaction.ts'
import { statement, uuid } from '../../src/db/sql.ts'
import { relayKeys, startChain } from '../support/chain/anvil.ts'
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
import { onlyTo, refuses, rewriting } from '../support/chain-faults.ts'
import { isSending, type RpcRequest, startChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const options = { relayKeys: relayKeys.slice(0, 1), receiptPatience: 50 }
const account = createRelayAccount(relayKeys[0]!)

const sizes = async () => {
  const rows = await world.sql<{ size: number }>(
    `select count(*)::int as size from commit_relays where nonce is not null group by lane, nonce order by lane, nonce`,
  )
  return rows.map(({ size }) => size)
}
const places =
  'select commit_id, nonce, position, transaction_hash, gas_used, fee_paid::text from commit_relays order by 1'
const countMembers = async () => (await world.sql('select from chain_transaction_members')).length
const deployRegistry = async () => {
  await (await startRelay(chain.url, options)).stop()
}
const addReady = async (assets: number, each: number) => {
  const made = await world.addCommits(assets, each)
  await world.sql(`update commit_relays set tree_signature = '0x' || repeat('1', 130)`)
  return made
}
const expectCosts = async (on = chain) => {
  const rows = await world.sql<{ hash: string; gas: number; fee: string }>(
    `select transaction_hash as hash, sum(gas_used)::int as gas, sum(fee_paid)::text as fee from commit_relays group by 1`,
  )
  for (const { hash, gas, fee } of rows) {
    const receipt = await on.rpc.call<Record<string, string>>('eth_getTransactionReceipt', hash)
    expect(gas).toBe(Number(receipt.gasUsed))
    expect(BigInt(fee)).toBe(BigInt(receipt.gasUsed!) * BigInt(receipt.effectiveGasPrice!))
  }
  expect(await world.sql('select 1 from commit_relays where gas_used is null or gas_used < 20000')).toEqual([])
}
const deploy = async (bytecode: string) => {
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const plan = { ...fees, chainId: 31337, nonce: 0, data: bytecode, gasLimit: 2_000_000n }
  await chain.rpc.call('eth_sendRawTransaction', toHex(signTransaction(account, plan).raw))
  return getCreateAddress({ from: account.address, nonce: 0 })
}

const addAnother = statement(
  'test_another',
  { parameters: { asset: uuid } },
  `with c as (
     insert into commits (asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
     select asset_id, 2, author_id, 'change 2', '{}', tree, tree_cid, tree_sha256 from commits where asset_id = $asset returning id
   )
   insert into commit_relays (commit_id, tree_signature) select id, '0x' || repeat('1', 130) from c`,
)

describe('commits that are ready at the same time', () => {
  it('commits that are ready together share a transaction in order, each with its own event and fee share', async () => {
    const assets = await addReady(3, 40)
    await relayUntilFinal(120, chain.url, { ...options, commitsPerTransaction: 50 })
    expect(await sizes()).toEqual([50, 50, 20])
    await expectWhole(assets)
    await expectCosts()
    expect(await world.sql('select from chain_transactions')).toHaveLength(3)
    expect(await countMembers()).toBe(117)
    const [alone] = assets
    await world.addCommit(alone!)
    await eventually(world.statuses, all('FINAL', 121))
    expect(await sizes()).toEqual([50, 50, 20, 1])
    await expectCosts()
  })

  it('a batch of commits has enough gas for state that the next block adds', async () => {
    const assets = await addReady(10, 1)
    await relayUntilFinal(10, chain.url, options)
    await world.database.transaction(async (query) => {
      for (const asset of assets) await query(addAnother, { asset: asset.id })
    })
    await eventually(world.statuses, all('FINAL', 20))
    expect(await sizes()).toEqual([10, 10])
    await expectCosts()
  })

  it('a transaction contains fewer commits if they are large or the block gas limit is low', async () => {
    const asset = await world.addAsset(await world.addUser())
    for (let index = 0; index < 8; index += 1) await world.addCommit(asset, 'x'.repeat(25_000))
    await world.sql(`update commit_relays set tree_signature = '0x' || repeat('1', 130)`)
    const before = await relayUntilFinal(8, chain.url, options)
    expect(await sizes()).toEqual([3, 3, 2])
    // A running pass would use the gas limit of the previous block.
    await before.stop()
    await chain.rpc.call('evm_setBlockGasLimit', '0x2dc6c0')
    await chain.rpc.call('evm_mine')
    await addReady(1, 40)
    await relayUntilFinal(48, chain.url, options)
    const [, , , ...later] = await sizes()
    expect(Math.max(...later)).toBeLessThan(20)
    expect(Math.max(...later)).toBeGreaterThan(1)
  })

  it.each([
    ['the registry of an earlier version', 'earlier-registry.json'],
    ['an installation with one commit per transaction', undefined],
  ])('commits are sent separately in %s', async (_, file) => {
    const earlier = file && JSON.parse(await readFile(new URL(`../support/chain/${file}`, import.meta.url), 'utf8'))
    const address = await deploy(earlier?.bytecode ?? registryBytecode)
    const assets = await addReady(2, 5)
    await relayUntilFinal(10, chain.url, { ...options, address, ...(!earlier && { commitsPerTransaction: 1 }) })
    expect(await sizes()).toEqual(Array(10).fill(1))
    const registry = createRegistry({ rpcUrl: chain.url, address })
    for (const { nid } of assets) expect(await registry.readCommits(nid)).toHaveLength(5)
    expect(await supportsBatches(chain.rpc, address)).toBe(!earlier)
  })

  it('commits are not batched to a contract that accepts every call', async () => {
    expect(await supportsBatches(chain.rpc, await deploy('0x600a600c600039600a6000f3600160005260206000f3'))).toBe(false)
  })
})

describe('batches', () => {
  it('splits a batch that the node cannot estimate, so that one commit does not delay the others', async () => {
    const assets = await addReady(2, 6)
    const isEstimateOfBatch = ({ method, params }: RpcRequest) => {
      if (method !== 'eth_estimateGas') return false
      const { data, to } = params[0] as { data: string; to?: string }
      return to !== undefined && decodeCommits(data).length > 1
    }
    proxy.fault = onlyTo(isEstimateOfBatch, refuses({ code: 3, message: 'execution reverted' }))
    await relayUntilFinal(12, proxy.url, options)
    expect(await sizes()).toEqual(Array(12).fill(1))
    await expectWhole(assets)
  })

  it('a batch without effect is signed again per commit, and no commit is refunded', async () => {
    // Before EIP-7623, a transaction with too little gas to execute was still accepted.
    const earlier = await startChain({ args: ['--hardfork', 'cancun'] })
    onTestFinished(() => earlier.stop())
    const proxy = await startChainProxy(onTestFinished, earlier.url)
    const assets = await addReady(2, 4)
    let estimates = 0
    proxy.fault = rewriting(({ method }, result) =>
      method === 'eth_estimateGas' && ++estimates === 2 ? '0x20000' : result,
    )
    await relayUntilFinal(8, proxy.url, { ...options, confirmations: 0 })
    expect(await sizes()).toEqual(Array(8).fill(1))
    await expectWhole(assets, earlier)
    await expectCosts(earlier)
    expect(await world.sql(`select 1 from transfers where reference like 'refund:%'`)).toEqual([])
    expect(await countMembers()).toBe(7)
  })

  it('finds a batch with a missing receipt commit by commit in the registry', async () => {
    let isHidden = true
    proxy.fault = rewriting(({ method }, result) =>
      isHidden && method === 'eth_getTransactionReceipt' ? null : result,
    )
    const assets = await addReady(2, 5)
    world.relay(proxy.url, { ...options, confirmations: 2 })
    await eventually(world.statuses, all('INCLUDED', 10))
    expect(await sizes()).toEqual([10])
    isHidden = false
    await chain.rpc.call('anvil_mine', '0x3')
    await expectFinal(10, assets)
    await expectCosts()
  })

  it('a batch is replaced as a whole at the same nonce with higher fees', async () => {
    await deployRegistry()
    await chain.rpc.call('evm_setAutomine', false)
    const assets = await addReady(2, 5)
    world.relay(proxy.url, options)
    await eventually(world.statuses, all('BROADCAST', 10))
    await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800')
    await chain.rpc.call('evm_mine')
    await eventually(async () => (await world.sql('select hash from chain_transactions')).length > 1)
    await chain.rpc.call('evm_setAutomine', true)
    await chain.rpc.call('evm_mine')
    await eventually(world.statuses, all('FINAL', 10))
    const raws = await world.sql<{ raw: Uint8Array }>('select raw from chain_transactions')
    const read = raws.map(({ raw }) => parseTransaction(raw))
    expect(new Set(read.map(({ nonce, data }) => `${nonce} ${data}`)).size).toBe(1)
    expect(await countMembers()).toBe(9 * raws.length)
    await expectWhole(assets)
    await expectCosts()
  })

  it('finds a batch on the chain after a database restore, and sends identical unsent commits', async () => {
    const assets = await addReady(2, 5)
    await world.sql('alter table commits disable trigger user')
    await world.sql(
      `update commits c set tree = f.tree, tree_cid = f.tree_cid, tree_sha256 = f.tree_sha256, created_at = f.created_at
       from commits f where f.asset_id = c.asset_id and f.sequence = 2 and c.sequence in (3, 4)`,
    )
    await (await relayUntilFinal(10, chain.url, options)).stop()
    const before = await world.sql(places)
    await world.sql('delete from chain_transaction_members')
    await world.sql('delete from chain_transactions')
    await world.sql(
      `update commit_relays set status = 'PENDING', lane = null, nonce = null, position = 0, transaction_hash = null,
         block_number = null, block_hash = null, gas_used = null, fee_paid = null`,
    )
    await world.sql(
      `with c as (
         insert into commits (asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256, created_at)
         select asset_id, 6, author_id, 'change 6', '{}', tree, tree_cid, tree_sha256, created_at from commits where sequence = 2
         returning id
       )
       insert into commit_relays (commit_id, tree_signature) select id, '0x' || repeat('1', 130) from c`,
    )
    await relayUntilFinal(12, chain.url, options)
    expect(await world.sql(places)).toEqual(expect.arrayContaining(before))
    expect(await world.sql('select distinct nonce from commit_relays where nonce > 1')).toHaveLength(1)
    const registry = createRegistry({ rpcUrl: chain.url, database: world.database })
    for (const { nid } of assets) expect(await registry.readCommits(nid)).toHaveLength(6)
  })

  it('a batch is stored before it is sent, and another process sends the same bytes', async () => {
    await deployRegistry()
    proxy.fault = onlyTo(isSending, refuses({ code: -1, message: 'no' }))
    const assets = await addReady(2, 5)
    const relay = world.relay(proxy.url, options)
    await eventually(() => proxy.faults > 0)
    await relay.stop()
    const [stored] = await world.sql<{ hash: string }>('select hash from chain_transactions')
    proxy.fault = undefined
    await relayUntilFinal(10, proxy.url, options)
    expect(await world.sql('select distinct transaction_hash as hash from commit_relays')).toEqual([stored])
    await expectWhole(assets)
  })
})
