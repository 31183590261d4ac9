/** What an answer tells of the buyer of an order: as they are once the request is carried out. */
import { describe, expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const headers = store.service
const buyer = 'order { buyer { id email displayName address wallet { points num } } }'
const input = { networkApp: store.appId }

const order = async (user: SignedIn) => (await store.order(user)).id as string
const walletOf = async (user: SignedIn) => {
  const { wallet } = expectOk(await user.graphql('{ me { wallet { points num } } }')).me
  return wallet
}

describe('the buyer of an order', () => {
  it('is the account that asks, with the wallet as the payment left it', async () => {
    const user = await app.newUser({ points: '1', num: '5' })
    const id = await order(user)
    const confirm = `mutation ($input: ConfirmOrderInput!) { confirmOrder(input: $input) { ${buyer} } }`
    const { confirmOrder } = expectOk(await user.graphql(confirm, { input: { id } }, { headers }))
    const wallet = await walletOf(user)
    expect(wallet).toEqual({ points: '0', num: '3.5' })
    const me = expectOk(await user.graphql('{ me { id email displayName address } }')).me
    expect(confirmOrder.order.buyer).toEqual({ ...me, wallet })
  })

  it('shows what signing in does not read, too', async () => {
    const user = await app.newUser()
    const create =
      'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { buyer { email lockedAt role } } } }'
    const { createOrder } = expectOk(await user.graphql(create, { input }, { headers }))
    expect(createOrder.order.buyer).toEqual({ email: user.email, lockedAt: null, role: 'USER' })
  })
})
