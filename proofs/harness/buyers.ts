/** Buyers under load. They create and confirm orders with idempotency keys, and retry until each is acknowledged. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { boolean, int, numeric, statement, text, uuid } from '../../src/db/sql.ts'
import { toId } from '../../src/shared/ids.ts'
import { type Account, type Acknowledged, openAccount } from './callers.ts'
import { persist } from './client.ts'
import type { Parts } from './parts.ts'
import type { Random } from './random.ts'
import { addService, orderUuid, readUserId } from './store.ts'
import { describeTally, tally } from './tally.ts'

const insertApp = statement(
  'proof_bought_app',
  { parameters: { app: uuid, owner: uuid, price: numeric } },
  `insert into network_apps (id, owner_id, name, price) values ($app, $owner, 'bought', $price)`,
)
const readOrders = statement(
  'proof_bought',
  { columns: { id: text, isPaid: boolean, charges: int } },
  `select o.id::text as id, o.paid_at is not null as "isPaid",
     (select count(*)::int from transfers t where t.reference = 'order:' || o.id) as charges from orders o`,
)

export interface Buyers {
  /** UUIDs of orders whose payment was acknowledged. */
  paid: string[]
  surprises: string[]
  /** Runs until `isOver` returns true. */
  run(isOver: () => boolean): Promise<void>
}

/** Usernames of the accounts whose balances change by these purchases. */
export const buyerNames = ['merchant', 'buyer1', 'buyer2'] as const

export interface BuyersOptions {
  base: string
  choose(): string | undefined
  random: Random
  /** Record of acknowledged writes. Accounts and assets are added to it. */
  acknowledged: Acknowledged
}

/** Creates two buyers and a seller. */
export async function openBuyers(parts: Parts, { base, choose, random, acknowledged }: BuyersOptions): Promise<Buyers> {
  const apiKey = await addService(parts)
  const [seller, ...buyers] = buyerNames
  const accounts: Account[] = []
  await openAccount(base, seller, acknowledged)
  for (const name of buyers) accounts.push(await openAccount(base, name, acknowledged))
  const app = randomUUID()
  await parts.database.query(insertApp, { app, owner: await readUserId(parts.database, seller), price: '1' })
  const paid: string[] = []
  const surprises: string[] = []

  const buy = async ({ token, nid, username }: Account, serial: number) => {
    const orders = '/api/v3/store/network-app-orders/'
    const json = { network_app: toId('app', app), action_args: { nid } }
    const key = `order ${username} ${serial}`
    const { answer } = await persist(choose, { method: 'POST', path: orders, token, apiKey, json, key })
    if (answer.status !== 201) return void surprises.push(`An order was answered with ${JSON.stringify(answer)}`)
    const { id } = answer.body
    const confirm = { method: 'POST', path: `${orders}${id}/confirm/`, token, apiKey, json: {}, key: `confirm ${id}` }
    const { answer: told } = await persist(choose, confirm)
    if (told.status === 200) paid.push(orderUuid(id))
    else surprises.push(`A confirm was answered with ${JSON.stringify(told)}`)
  }

  return {
    paid,
    surprises,
    async run(isOver) {
      const buyer = async (account: Account) => {
        const own = random.fork(account.username)
        for (let serial = 0; !isOver(); serial += 1) {
          await buy(account, serial)
          await delay(own.below(200))
        }
      }
      await Promise.all(accounts.map(buyer))
    },
  }
}

/** Compares orders and charges with the acknowledged payments. Returns the problems, and the numbers of lost and duplicate charges. */
export async function judgeBuyers(database: ConnectedDatabase, { paid, surprises }: Buyers) {
  const orders = await database.query(readOrders)
  const found = tally(
    paid,
    orders.filter(({ isPaid }) => isPaid).map(({ id }) => id),
  )
  const double = orders.filter(({ charges }) => charges > 1).length
  const uncharged = orders.filter(({ isPaid, charges }) => isPaid !== (charges === 1)).length
  const reasons = [...surprises.slice(0, 5), ...describeTally('orders', found)]
  if (uncharged > 0) reasons.push(`${uncharged} orders are paid without one charge, or charged without being paid.`)
  return { reasons, lost: found.lost.length, double }
}
