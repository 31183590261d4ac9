/** Creates a store: a network app, the key of a trusted service, and orders. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { toId } from '../../src/shared/ids.ts'
import { expectOk } from './expect-error.ts'
import type { SignedIn, TestApp } from './test-app.ts'

export type StoreOptions = { price?: string; owner?: SignedIn }

export async function createStore(app: TestApp, { price = '2.5', owner }: StoreOptions = {}) {
  const seller = owner ?? (await app.admin())
  const id = randomUUID()
  const name = `app-${id.slice(0, 8)}`
  await app.sql('insert into network_apps (id, owner_id, name, price) values ($1::uuid, $2::uuid, $3, $4::numeric)', [
    id,
    seller.id,
    name,
    price,
  ])
  const key = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  const hash = createHash('sha256').update(key).digest()
  await app.sql('insert into api_keys (name, prefix, hash) values ($1, $2, $3)', [name, key.slice(0, 8), hash])
  const service = { 'x-api-key': key }
  const appId = toId('app', id)
  return {
    owner: seller,
    appId,
    name,
    service,
    order: async (buyer: SignedIn, fields = {}) =>
      expectOk(
        await buyer.rest('POST', 'store/network-app-orders/', {
          json: { network_app: appId, ...fields },
          headers: service,
        }),
      ),
    confirm: (buyer: SignedIn, orderId: string, headers = {}) =>
      buyer.rest('POST', `store/network-app-orders/${orderId}/confirm/`, { headers: { ...service, ...headers } }),
  }
}

export type TestStore = Awaited<ReturnType<typeof createStore>>
