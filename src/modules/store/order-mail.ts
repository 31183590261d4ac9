/** What a mail about an order says, and to whom. Words are the composer's, the way out is the mailer's. */

import type { Database } from '../../db/database-types.ts'
import type { Prisma } from '../../db/prisma/client.ts'
import type { OrderMailJob } from '../../jobs/queues.ts'
import type { ComposeMail, Mailer, OrderFacts, OrderMessage, Split } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { addressCounts } from '../accounts/email-lookup-sql.ts'

interface Dependencies {
  database: Pick<Database, 'read'>
  mailer: Mailer
  compose: ComposeMail
  log: Log
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

const person = {
  select: { id: true, displayName: true, email: true, emailHeld: true, emailVerified: true, language: true },
} satisfies Prisma.UserDefaultArgs

const orderParts = {
  id: true,
  networkAppName: true,
  price: true,
  pointsPaid: true,
  numPaid: true,
  paidAt: true,
  settledAt: true,
  buyer: person,
  networkApp: { select: { owner: person } },
  transfer: { select: { id: true, entries: { select: { walletId: true, currency: true, amount: true } } } },
} satisfies Prisma.OrderSelect

type Order = Prisma.OrderGetPayload<{ select: typeof orderParts }>
type PaidOrder = Order & { paidAt: Date; transfer: NonNullable<Order['transfer']> }
type Person = Order['buyer']
type Template = OrderMailJob['template']

interface Letter {
  to: Person
  message: OrderMessage
}

const isPaid = (order: Order | null): order is PaidOrder => Boolean(order?.paidAt && order.transfer)

/** What is left of an erased person is no address, or one under `.invalid`, where nobody can be. */
const isAddress = (email: string) => /^[^\s@]+@[^\s@]+$/.test(email) && !/[.@]invalid$/i.test(email)

const factsOf = (order: PaidOrder, at = order.paidAt): OrderFacts => ({
  appName: order.networkAppName,
  orderId: toId('order', order.id),
  price: formatAmount(order.price),
  at,
})

const refundParts = {
  points: true,
  num: true,
  reason: true,
  createdAt: true,
  transferId: true,
} satisfies Prisma.RefundSelect

const returnedBy = ({ points, num }: Prisma.RefundGetPayload<{ select: typeof refundParts }>): Split => ({
  points: formatAmount(points),
  num: formatAmount(num),
})

const paidFor = ({ pointsPaid, numPaid }: PaidOrder): Split => ({
  points: formatAmount(pointsPaid),
  num: formatAmount(numPaid),
})

/** What the payment brought to the owner's wallet, and what of the price the platform kept. */
function sharesOf({ price, networkApp: { owner }, transfer }: PaidOrder): { earned: Split; platformShare: string } {
  const sum = (currency: 'POINTS' | 'NUM') =>
    transfer.entries
      .filter((entry) => entry.walletId === owner.id && entry.currency === currency)
      .map(({ amount }) => toUnits(amount))
      // An owner who buys from themselves pays by lines of their own.
      .filter((units) => units > 0n)
      .reduce((total, units) => total + units, 0n)
  const [points, num] = [sum('POINTS'), sum('NUM')]
  return {
    earned: { points: fromUnits(points), num: fromUnits(num) },
    platformShare: fromUnits(toUnits(price) - points - num),
  }
}

/** Writes the mails about orders when they are sent, from order and people as they are then. */
export function createOrderMail({ database, mailer, compose, log, verifiesAddresses }: Dependencies) {
  const { read } = database
  const canBeReached = (person: Person) => isAddress(person.email) && addressCounts(person, verifiesAddresses)

  const letters: {
    [T in Template]: (
      order: PaidOrder,
      job: Extract<OrderMailJob, { template: T }>,
    ) => Letter | Promise<Letter | undefined>
  } = {
    receipt: (order) => ({
      to: order.buyer,
      message: {
        template: 'receipt',
        ...factsOf(order),
        paid: paidFor(order),
        chargeId: toId('transfer', order.transfer.id),
      },
    }),
    sale: (order) => ({
      to: order.networkApp.owner,
      message: { template: 'sale', ...factsOf(order), ...sharesOf(order) },
    }),
    'order-failed': (order) => {
      const { owner } = order.networkApp
      return {
        to: order.buyer,
        message: {
          template: 'order-failed',
          ...factsOf(order, order.settledAt ?? order.paidAt),
          paid: paidFor(order),
          contact: canBeReached(owner) ? owner.email : null,
        },
      }
    },
    'order-refunded': async (order) => {
      const made = { orderId: order.id, transfer: { reference: `order-refund:${order.id}` } }
      const refund = await read.refund.findFirst({ where: made, select: refundParts })
      if (!refund) return undefined
      return {
        to: order.buyer,
        message: {
          template: 'order-refunded',
          ...factsOf(order, refund.createdAt),
          returned: returnedBy(refund),
          chargeId: toId('transfer', order.transfer.id),
          refundId: toId('transfer', refund.transferId),
        },
      }
    },
    refund: async (order, { refundId }) => {
      const refund = await read.refund.findFirst({ where: { id: refundId, orderId: order.id }, select: refundParts })
      if (!refund) return undefined
      const returned = returnedBy(refund)
      return {
        to: order.buyer,
        message: {
          template: 'refund',
          ...factsOf(order, refund.createdAt),
          returned,
          isWhole: toUnits(add(returned.points, returned.num)) === toUnits(order.price),
          reason: refund.reason,
          chargeId: toId('transfer', order.transfer.id),
          refundId: toId('transfer', refund.transferId),
        },
      }
    },
  }

  return {
    /**
     * Carries out a job of the queue `mail`. An order that is not what the mail tells of, and a person who was erased,
     * are passed over. Raises UNAVAILABLE when the mail did not get away: the queue tries again, and the same mail
     * carries the same id then.
     */
    async handle(job: OrderMailJob): Promise<void> {
      const { template, orderId } = job
      const order = await read.order.findUnique({ where: { id: orderId }, select: orderParts })
      // The table above gives each template its own job; an index by a union forgets that.
      const write = letters[template] as (order: PaidOrder, job: OrderMailJob) => Promise<Letter | undefined>
      const letter = isPaid(order) ? await write(order, job) : undefined
      if (!letter || !canBeReached(letter.to)) {
        log.debug({ template, order: toId('order', orderId) }, 'Mail dropped: no recipient')
        return
      }
      const { to, message } = letter
      const id = `${template}-${job.template === 'refund' ? toId('refund', job.refundId) : message.orderId}`
      const mail = { ...compose(message, to.language), id, to: { name: to.displayName, address: to.email } }
      await mailer
        .send({ ...mail, date: message.at })
        .catch(dropIfRejected(log, { template, order: toId('order', orderId) }))
    },
  }
}
