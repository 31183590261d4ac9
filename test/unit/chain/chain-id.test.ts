/** A chain whose ID does not fit into 32 bits. */
import { afterAll, expect, it } from 'vitest'
import { createRelayAccount } from '../../../src/chain/keys.ts'
import { quantity } from '../../../src/chain/rpc.ts'
import { startChain } from '../../support/chain/anvil.ts'
import { until } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const CHAIN_ID = 11_297_108_109
const chain = await startChain({ args: ['--chain-id', String(CHAIN_ID), '--block-time', '0.2'] })
afterAll(() => chain.stop())
const app = await createTestApp({ rpcUrl: chain.url, withChain: true, env: { CHAIN_ID: String(CHAIN_ID) } })
const { address } = createRelayAccount(app.env.CHAIN_RELAY_KEYS!)
await chain.rpc.call('anvil_setBalance', address, quantity(100n * 10n ** 18n))

it('commits become final on the configured chain ID, and both APIs verify the commits', async () => {
  const user = await app.newUser({ num: '10' })
  const { id } = await user.register()
  const history = () => user.rest('GET', `assets/${id}/history/`)
  await until('the commit is final', async () => (await history()).body.commits[0].status === 'final')
  const { asset } = expectOk(await user.graphql(`{ asset(id: "${id}") { verification { verdict chainId } } }`))
  expect(asset.verification).toEqual({ verdict: 'HOLDS', chainId: CHAIN_ID })
})
