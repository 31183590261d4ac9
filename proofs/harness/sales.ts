/** Network apps with webhooks, and sales of these apps through the API. */
import { randomBytes, randomUUID } from 'node:crypto'
import { bytes, statement, text, uuid } from '../../src/db/sql.ts'
import { createEnvelopeCipher } from '../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../src/keys/key-vault.ts'
import { webhookSecretContext } from '../../src/modules/store/network-apps.ts'
import { toId } from '../../src/shared/ids.ts'
import { ask } from './client.ts'
import type { Parts } from './parts.ts'
import type { Store } from './store.ts'

export interface App {
  /** UUID of the app. */
  id: string
  secret: string
}

const insertApp = statement(
  'proof_webhook_app',
  { parameters: { app: uuid, owner: uuid, url: text, secret: bytes } },
  `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
   values ($app, $owner, 'app ' || $app::text, 1, $url, $secret)`,
)

/** Opens the cipher that gateways with this environment use. */
export const openSafe = ({ env }: Parts) =>
  createEnvelopeCipher({ vault: createLocalKeyVault({ key: env.KEY_ENCRYPTION_KEY, dir: env.ANNAL_DIR! }) })

/** Creates another app of the seller with the price 1. */
export async function addApp(parts: Parts, { seller }: { seller: { id: string } }, webhookUrl: string): Promise<App> {
  const id = randomUUID()
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const sealed = await openSafe(parts).seal(secret, webhookSecretContext(id))
  await parts.database.query(insertApp, { app: id, owner: seller.id, url: webhookUrl, secret: sealed })
  return { id, secret }
}

const AT_ONCE = 10

/** Creates and confirms orders at one gateway. Returns their IDs. Throws if a request is rejected. */
export async function sell({ gateways, buyer, apiKey }: Store, app: App, count: number, at = 0): Promise<string[]> {
  const base = gateways[at]!.url
  const orders = '/api/v3/store/network-app-orders/'
  const common = { token: buyer.token, apiKey }
  const sellOne = async () => {
    const json = { network_app: toId('app', app.id), action_args: { nid: buyer.nid } }
    const { id } = await ask<{ id: string }>(base, { ...common, path: orders, json }, 201)
    await ask(base, { ...common, path: `${orders}${id}/confirm/`, json: {} }, 200)
    return id
  }
  const ids: string[] = []
  while (ids.length < count)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - ids.length) }, sellOne))))
  return ids
}
