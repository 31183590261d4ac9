/** A store under load: gateways on one database, a seller with a network app, a buyer, and the API key of a trusted service. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { bytes, numeric, orNull, statement, text, uuid } from '../../src/db/sql.ts'
import { createEnvelopeCipher } from '../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../src/keys/key-vault.ts'
import { webhookSecretContext } from '../../src/modules/store/network-apps.ts'
import { fromId, toId } from '../../src/shared/ids.ts'
import { type Account, nothingAcknowledged, openAccount } from './callers.ts'
import { ask } from './client.ts'
import { createGateway, type Gateway } from './gateway.ts'
import type { Parts } from './parts.ts'
import type { ProofContext } from './proof.ts'

export interface Store {
  gateways: Gateway[]
  buyer: Account & { id: string }
  seller: Account & { id: string }
  apiKey: string
  /** Creates orders of the buyer, or of another account, over REST. Returns their IDs. */
  order(count: number, by?: Account): Promise<string[]>
}

export interface StoreOptions {
  /** Price as a decimal string. */
  price: string
  webhookUrl?: string
  /** Additional environment variables, one entry per gateway. */
  gateways?: Record<string, string>[]
}

export const orderUuid = (id: string) => fromId(id, 'order')!.uuid

const findUser = statement(
  'proof_user',
  { parameters: { username: text }, columns: { id: uuid } },
  'select id from users where username = $username',
)
const insertApp = statement(
  'proof_app',
  { parameters: { app: uuid, owner: uuid, price: numeric, url: orNull(text), secret: orNull(bytes) } },
  `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
   values ($app, $owner, 'upscale', $price, $url, $secret)`,
)
const insertKey = statement(
  'proof_key',
  { parameters: { prefix: text, hash: bytes } },
  `insert into api_keys (name, prefix, hash) values ('proof', $prefix, $hash)`,
)

/** Returns the UUID of a user. */
export const readUserId = async (database: ConnectedDatabase, username: string) =>
  (await database.query(findUser, { username }))[0]!.id

/** Creates a trusted service and returns its API key. */
export async function addService({ database }: Parts): Promise<string> {
  const apiKey = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  await database.query(insertKey, { prefix: apiKey.slice(0, 8), hash: createHash('sha256').update(apiKey).digest() })
  return apiKey
}

export async function openStore(
  context: ProofContext,
  parts: Parts,
  { price, webhookUrl, gateways: environments = [{}, {}] }: StoreOptions,
): Promise<Store> {
  const gateways: Gateway[] = []
  for (const [index, own] of environments.entries()) {
    const name = `gateway-${index}`
    const url = new URL(parts.databaseUrl)
    url.searchParams.set('application_name', name)
    gateways.push(await createGateway(context, name, { ...parts.env, DATABASE_URL: url.href, ...own }))
  }
  // Start one after the other, because the first gateway writes data that all need.
  for (const gateway of gateways) await gateway.start()

  const open = async (username: string) => {
    const account = await openAccount(gateways[0]!.url, username, nothingAcknowledged())
    return { ...account, id: await readUserId(parts.database, username) }
  }
  const seller = await open('seller')
  const buyer = await open('buyer')

  const appId = randomUUID()
  const envelopeCipher = createEnvelopeCipher({
    vault: createLocalKeyVault({ key: parts.env.KEY_ENCRYPTION_KEY, dir: context.dir }),
  })
  const secret = await envelopeCipher.seal(`whsec_${randomBytes(24).toString('base64')}`, webhookSecretContext(appId))
  await parts.database.query(insertApp, {
    ...{ app: appId, owner: seller.id, price },
    ...{ url: webhookUrl ?? null, secret: webhookUrl ? secret : null },
  })
  const apiKey = await addService(parts)

  const orderOne = async (index: number, by: Account) => {
    const call = {
      path: '/api/v3/store/network-app-orders/',
      token: by.token,
      apiKey,
      json: { network_app: toId('app', appId), action_args: { nid: by.nid } },
    }
    return (await ask<{ id: string }>(gateways[index % gateways.length]!.url, call, 201)).id
  }
  return {
    gateways,
    buyer,
    seller,
    apiKey,
    async order(count, by = buyer) {
      const ids: string[] = []
      while (ids.length < count) {
        const rest = Math.min(count - ids.length, 20)
        ids.push(...(await Promise.all(Array.from({ length: rest }, (_, index) => orderOne(index, by)))))
      }
      return ids
    },
  }
}

/** Stops the gateways. Returns a message for each that does not stop cleanly. */
export async function closeStore({ gateways }: Store): Promise<string[]> {
  const reasons: string[] = []
  for (const gateway of gateways) {
    const code = await gateway.stop()
    if (code !== 0) reasons.push(`${gateway.name} ended with ${code} on SIGTERM.`)
  }
  return reasons
}

const setBalance = statement(
  'proof_set_balance',
  { parameters: { user: uuid, points: numeric, num: numeric } },
  `with before as (select user_id, points, num from wallets where user_id = $user for update),
   moved as (insert into transfers (reference) values ('proof:' || uuidv7()) returning id),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select moved.id, line.* from moved, before, lateral (values
       (1, before.user_id, null::book, 'POINTS'::currency, $points - before.points),
       (2, before.user_id, null, 'NUM', $num - before.num),
       (3, null, 'PROMOTION', 'POINTS', before.points - $points),
       (4, null, 'DEPOSITS', 'NUM', before.num - $num)
     ) as line (position, wallet_id, book, currency, amount) where line.amount <> 0
   )
   update wallets w set points = $points, num = $num from before where w.user_id = before.user_id`,
)

/** Sets the balances of a wallet with a transfer, so that the ledger stays consistent. Amounts are decimal strings. */
export const fillWallet = (database: ConnectedDatabase, userId: string, funds: { points: string; num: string }) =>
  database.query(setBalance, { user: userId, ...funds })

const findBalance = statement(
  'proof_balance',
  { parameters: { user: uuid }, columns: { points: text, num: text } },
  'select points::text, num::text from wallets where user_id = $user',
)

/** Reads the balances of a wallet as decimal strings. */
export const readWallet = async (database: ConnectedDatabase, userId: string) =>
  (await database.query(findBalance, { user: userId }))[0]!
