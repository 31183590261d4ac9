/** Deposits on the embedded chain, whose operator can create any coins. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { loadModules, openChain } from '../../src/app.ts'
import type { Rpc } from '../../src/chain/rpc.ts'
import { developmentKey } from '../../src/embedded/embedded-anvil.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const sender = new Wallet(developmentKey)

const open = async (dir: string, embeddedDeposits: boolean) => {
  const { config } = app.installation
  const chain = { ...config.chain, rpcUrl: undefined, relayKeys: undefined, embeddedDeposits }
  const installation = { ...app.installation, config: { ...config, dir, chain } }
  const connection = await openChain(installation, app.url, await loadModules())
  connection.deposits.start()
  return connection
}

const pay = async (rpc: Rpc, to: string, coins: bigint) => {
  const nonce = Number(await rpc.call<string>('eth_getTransactionCount', sender.address, 'latest'))
  const fees = { gasPrice: 3_000_000_000n, gasLimit: 21_000n, chainId: 31337, type: 0 }
  const raw = await sender.signTransaction({ to, nonce, value: coins * 10n ** 18n, ...fees })
  const hash = await rpc.call<string>('eth_sendRawTransaction', raw)
  await eventually(async () => {
    const receipt = await rpc.call<{ blockNumber: string } | null>('eth_getTransactionReceipt', hash)
    const depth = receipt ? Number(await rpc.call<string>('eth_blockNumber')) - Number(receipt.blockNumber) : -1
    return depth >= app.installation.config.chain.confirmations
  })
}

it('deposits on the embedded chain are not credited unless ANNAL_EMBEDDED_DEPOSITS is set', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-deposits-'))
  const user = await app.newUser({ points: '0' })
  const closed = await open(dir, false)
  await pay(closed.registry.rpc, user.address, 7n)
  await closed.close()

  const opened = await open(dir, true)
  await eventually(async () => (await app.sql(`select value from key_values where key like 'deposits:%'`)).length > 0)
  await pay(opened.registry.rpc, user.address, 5n)
  // The watcher reads blocks in order, so it would have credited the first payment before.
  await eventually(async () => (await app.wallet(user)).num !== '0')
  expect(await app.wallet(user)).toEqual({ num: '5', points: '0' })
  expect(Number(await opened.registry.rpc.call<string>('eth_getBalance', user.address, 'latest'))).toBe(12e18)
  await opened.close()
  await rm(dir, { recursive: true, force: true })
})
