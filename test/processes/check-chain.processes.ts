import { expect, it } from 'vitest'
import { checkChain } from '../../src/chain/check-chain.ts'
import { createRelayAccount, toHex } from '../../src/chain/keys.ts'
import { createRegistry, registrySetting } from '../../src/chain/registry/registry.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { parseTransaction, signTransaction } from '../../src/chain/transaction.ts'
import { checkDeposits } from '../../src/modules/coins/treasury/check-coins.ts'
import { toId } from '../../src/shared/ids.ts'
import { relayKeys } from '../support/chain/anvil.ts'
import { chain, server, useRelayScene, world } from '../support/chain/relay-scene.ts'
import { deploy } from '../support/chain/test-contracts.ts'
import type { World } from '../support/chain/world.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const account = createRelayAccount(relayKeys[0]!)

async function check({ database }: World = world) {
  const registry = createRegistry({ rpcUrl: chain.url, database })
  const check = { database, registry, recorders: [account.address], most: 100 }
  const findings = [...(await checkChain(check)), await checkDeposits(check)]
  expect(findings.map(({ id, isNote }) => `${id}${isNote ? ', to know' : ''}`)).toEqual([
    ...['H1', 'H2', 'H3', 'H4, to know', 'H5'],
  ])
  return Object.fromEntries(findings.filter(({ rows }) => rows.length > 0).map(({ id, rows }) => [id, rows]))
}

async function settle(assets: number, each: number) {
  const made = await world.addCommits(assets, each)
  const relay = world.relay(chain.url, { relayKeys: relayKeys.slice(0, 1), commitsPerTransaction: 1 })
  await eventually(world.statuses, (seen) => seen.FINAL === assets * each && Object.keys(seen).length === 1)
  await relay.stop()
  return made
}

it('`annal check` reports nothing if database and chain agree, including pending commits', async () => {
  const [asset] = await settle(2, 2)
  await world.addCommit(asset!)
  expect(await check()).toEqual({})
})

it('`annal check` finds commits after 2038, when timestamps exceed 32 bits', async () => {
  const [asset] = await settle(1, 1)
  const id = await world.addCommit(asset!)
  await world.sql('alter table commits disable trigger commits_erase_only')
  await world.sql(`update commits set created_at = '2038-01-19 03:14:08Z' where id = $1::uuid`, [id])
  await world.sql('alter table commits enable trigger commits_erase_only')
  expect(await check()).toEqual({})
})

it('`annal check` lists commits and deposits that a restored chain lacks', async () => {
  const owner = await world.addUser()
  const asset = await world.addAsset(owner)
  const relay = world.relay(chain.url, { relayKeys: relayKeys.slice(0, 1), commitsPerTransaction: 1 })
  await world.addCommit(asset)
  await eventually(world.statuses, (seen) => seen.FINAL === 1)
  const before = await chain.rpc.call<string>('evm_snapshot')
  const lost = await world.addCommit(asset)
  await eventually(world.statuses, (seen) => seen.FINAL === 2)
  await relay.stop()
  const [sender] = await chain.rpc.call<string[]>('eth_accounts')
  const hash = await chain.rpc.call<string>('eth_sendTransaction', { from: sender, to: owner.address, value: '0x1' })
  await world.sql(
    `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     values ('deposit:' || $1 || ':-1', 'COIN', 'CREDITED', $1, $2::uuid, 2, 9, '0x')`,
    [hash, owner.id],
  )
  expect(await check()).toEqual({})
  await chain.rpc.call('evm_revert', before)
  expect(await check()).toEqual({
    H1: [expect.objectContaining({ commit: toId('commit', lost), nid: asset.nid })],
    H5: [expect.objectContaining({ transaction: hash, user: toId('user', owner.id), amount: '2' })],
  })
})

it('`annal check` lists a token deposit whose transaction has another amount or recipient', async () => {
  const [owner, other] = [await world.addUser(), await world.addUser()]
  const [sender] = await chain.rpc.call<string[]>('eth_accounts')
  const mine = async (blocks: number) => void (await chain.rpc.call('anvil_mine', quantity(blocks)))
  const token = await deploy({ rpc: chain.rpc, sender: sender!, mine }, 'TestToken', [6])
  const hash = await token.call('transferTwice', [owner.address, 7n, 1_500_000n])
  await mine(1)
  await world.sql(
    `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     values ('deposit:' || $1 || ':1', 'TOKEN', 'CREDITED', $1, $2::uuid, 1.5, 9, '0x')`,
    [hash, owner.id],
  )
  expect(await check()).toEqual({})
  for (const [wallet, amount] of [
    [owner, '1000'],
    [other, '1.5'],
  ] as const) {
    await world.sql('update deposits set amount = $1, wallet_id = $2::uuid', [amount, wallet.id])
    expect(await check()).toEqual({
      H5: [expect.objectContaining({ transaction: hash, user: toId('user', wallet.id), amount })],
    })
  }
})

it('`annal check` lists unknown commits with their recorder', async () => {
  const [asset] = await settle(1, 1)
  const older = await server.createWorld()
  try {
    for (const { key, value } of await world.sql<{ key: string; value: string }>('select key, value from key_values'))
      await older.sql('insert into key_values (key, value) values ($1, $2)', [key, value])
    const { H4, ...others } = await check(older)
    expect(others).toEqual({})
    expect(H4).toEqual([
      expect.objectContaining({ committer: asset!.owner.address, about: expect.stringContaining(asset!.nid) }),
    ])
  } finally {
    await older.close()
  }
})

it('`annal check` lists duplicate commits, and refunded commits that are on the chain', async () => {
  const [asset] = await settle(1, 2)
  const [first] = await world.sql<{ raw: string; commit_id: string }>(
    `select '0x' || encode(raw, 'hex') as raw, commit_id from chain_transactions order by created_at, hash limit 1`,
  )
  const { data } = parseTransaction(Buffer.from(first!.raw.slice(2), 'hex'))
  const chainId = await createRegistry({ rpcUrl: chain.url }).readChainId()
  const [registry] = await world.sql<{ value: string }>('select value from key_values where key = $1', [
    registrySetting(chainId),
  ])
  const nonce = Number(await chain.rpc.call<string>('eth_getTransactionCount', account.address, 'latest'))
  const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const again = signTransaction(account, { ...fees, chainId, nonce, to: registry!.value, data, gasLimit: 1_000_000n })
  await chain.rpc.call('eth_sendRawTransaction', toHex(again.raw))
  await eventually(async () => (await check()).H2?.length === 1)
  await world.sql(`update commit_relays set status = 'FAILED' where commit_id = $1::uuid`, [first!.commit_id])
  const { H2, H3, ...others } = await check()
  expect(others).toEqual({})
  expect(H2).toMatchObject([{ transactions: [expect.any(String), again.hash] }])
  expect(H3).toMatchObject([{ commit: toId('commit', first!.commit_id), nid: asset!.nid }])
})
