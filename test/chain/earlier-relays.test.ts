/** Histories that a relay account wrote whose key was exchanged since. */
import { afterAll, expect, it } from 'vitest'
import { createRelayAccount } from '../../src/chain/keys.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { annalHere } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'
import { startChain } from './support/anvil.ts'

const chain = await startChain({ args: ['--block-time', '0.2'] })
afterAll(() => chain.stop())
const app = await createTestApp({ rpcUrl: chain.url, withChain: true })
const account = createRelayAccount(app.env.CHAIN_RELAY_KEYS!).address
await chain.rpc.call('anvil_setBalance', account, quantity(100n * 10n ** 18n))
const ANOTHER_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

it('a history that an earlier relay account wrote holds as before, and nobody has to name the account', async () => {
  const user = await app.newUser({ num: '10' })
  const { id } = await user.register()
  await eventually(
    () => user.rest('GET', `assets/${id}/history/`),
    ({ body: { commits } }) => commits[0].status === 'final',
  )
  const said = await annalHere({ ...app.env, CHAIN_RELAY_KEYS: ANOTHER_KEY }, ['verify', id, '--json'])
  expect(JSON.parse(said.stdout)).toMatchObject({ verdict: 'holds', commits: [{ recorder: account }], foreign: 0 })
  expect(said.code).toBe(0)
})
