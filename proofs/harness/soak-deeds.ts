/** Operations of the soak test in addition to those of all clients: purchases, deletions, password resets and withdrawals. */
import { toId } from '../../src/shared/ids.ts'
import { type Account, passwordOf, registerCall, signUpCall } from './callers.ts'
import { type Deeds, graphql, type Hand, plainDeeds } from './mixed-load.ts'

const orders = '/api/v3/store/network-app-orders/'
const orderDocument = `mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id } } }`
const confirmDocument = `mutation ($input: ConfirmOrderInput!) { confirmOrder(input: $input) { order { id } } }`

/** Accounts and apps that the operations use. */
export interface Shop {
  buyer: Account
  /** An account that receives coins. */
  saver: Account
  apiKey: string
  /** UUID of a network app with a webhook. */
  app: string
}

/** Acknowledged operations. */
export interface Bought {
  /** IDs of paid orders. */
  paid: string[]
  withdrawals: string[]
  resets: number
  left: number
}

async function buy({ buyer, apiKey, app }: Shop, { ask, id, random }: Hand, bought: Bought): Promise<void> {
  const common = { token: buyer.token, apiKey }
  const args = { nid: buyer.nid }
  const isRest = random.next() < 0.5
  const key = `order ${id}`
  const order = isRest
    ? { method: 'POST', path: orders, ...common, key, json: { network_app: toId('app', app), action_args: args } }
    : graphql(orderDocument, { input: { networkApp: toId('app', app), actionArgs: args } }, { ...common, key })
  const made = await ask('order', order)
  if (!made) return
  const orderId: string = isRest ? made.body.id : made.body.data.createOrder.order.id
  // Some orders are not confirmed, so they expire.
  if (random.next() < 0.1) return
  const again = `confirm ${id}`
  const confirm =
    random.next() < 0.5
      ? { method: 'POST', path: `${orders}${orderId}/confirm/`, ...common, key: again, json: {} }
      : graphql(confirmDocument, { input: { id: orderId } }, { ...common, key: again })
  if (await ask('confirm', confirm)) bought.paid.push(orderId)
}

/** Signs up, registers a file, may delete it, and deletes the account. */
async function comeAndLeave({ ask, id, random }: Hand, bought: Bought): Promise<void> {
  const username = `l${id}`
  if (!(await ask('sign-up', signUpCall(username)))) return
  const json = { email: `${username}@example.org`, password: passwordOf(username) }
  const signedIn = await ask('sign-in', { method: 'POST', path: '/api/v3/auth/token/login/', json })
  const token: string | undefined = signedIn?.body.auth_token
  if (!token) return
  const registered = await ask('upload', registerCall(token, `leaver ${id}`))
  if (registered && random.next() < 0.5) {
    // If the first response is lost, the retry gets NOT_FOUND.
    const path = `/api/v3/assets/${registered.body.id}/`
    await ask('deletion of an asset', { method: 'DELETE', path, token }, ['resource_not_found', 'not_found'])
  }
  const leave =
    random.next() < 0.5
      ? { method: 'DELETE', path: '/api/v3/auth/users/me/', token }
      : graphql('mutation { deleteAccount { id } }', {}, { token })
  if (await ask('deletion', leave, ['authentication_failed', 'not_authenticated'])) bought.left += 1
}

async function forget({ ask, account: { username } }: Hand, bought: Bought): Promise<void> {
  const json = { email: `${username}@example.org` }
  if (await ask('reset', { method: 'POST', path: '/api/v3/auth/users/reset_password/', json }, ['throttled']))
    bought.resets += 1
}

async function takeOut({ saver }: Shop, { ask, id, random }: Hand, bought: Bought): Promise<void> {
  const to = `0x${(random.below(2 ** 31) + 2 ** 31).toString(16).padStart(40, 'a')}`
  const json = { amount: '0.01', to, current_password: passwordOf(saver.username) }
  const call = { method: 'POST', path: '/api/v3/wallet/withdrawals/', token: saver.token, key: `take ${id}`, json }
  // An account can request only 60 withdrawals per hour.
  const answer = await ask('withdrawal', call, ['insufficient_fund', 'throttled'])
  if (answer?.status && answer.status < 300) bought.withdrawals.push(`take ${id}`)
}

/** Returns the operations of a soak test, and a record of what was acknowledged. */
export function soakDeeds(shop: Shop): { deeds: Deeds; bought: Bought } {
  const bought: Bought = { paid: [], withdrawals: [], resets: 0, left: 0 }
  const own: Deeds = [
    [0.16, (hand) => buy(shop, hand, bought)],
    [0.03, (hand) => comeAndLeave(hand, bought)],
    [0.02, (hand) => forget(hand, bought)],
    [0.04, (hand) => takeOut(shop, hand, bought)],
  ]
  const rest = 1 - own.reduce((sum, [share]) => sum + share, 0)
  return { deeds: [...own, ...plainDeeds.map(([share, deed]) => [share * rest, deed] as const)], bought }
}
