/** Mails about orders. A mail is composed from the current data when it is sent. */
import type { AppContext } from '../../context.ts'
import type { Prisma } from '../../db/prisma/client.ts'
import type { OrderMailJob } from '../../jobs/queues.ts'
import type { OrderFacts, OrderMessage, Split } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { isEmailUsable } from '../accounts/account-input.ts'

type Needs = Pick<AppContext, 'composeMail' | 'config' | 'database' | 'log' | 'mailer'>

const person = {
  select: { id: true, displayName: true, email: true, emailHeld: true, emailVerified: true, language: true },
} satisfies Prisma.UserDefaultArgs

const orderFields = {
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

type Order = Prisma.OrderGetPayload<{ select: typeof orderFields }>
type PaidOrder = Order & { paidAt: Date; transfer: NonNullable<Order['transfer']> }
type Person = Order['buyer']

const isPaid = (order: Order | null): order is PaidOrder => Boolean(order?.paidAt && order.transfer)

/** Returns true for a real e-mail address. Deleted accounts have none, or one under `.invalid`. */
const isAddress = (email: string) => /^[^\s@]+@[^\s@]+$/.test(email) && !/[.@]invalid$/i.test(email)

const canReach = (person: Person, { config }: Needs) =>
  isAddress(person.email) && isEmailUsable(person, config.emailVerification !== 'off')

const factsOf = (order: PaidOrder, at = order.paidAt): OrderFacts => ({
  appName: order.networkAppName,
  orderId: toId('order', order.id),
  price: formatAmount(order.price),
  at,
})

const paidFor = ({ pointsPaid, numPaid }: PaidOrder): Split => ({
  points: formatAmount(pointsPaid),
  num: formatAmount(numPaid),
})

/** Returns the owner's income from a payment, and the platform's share of the price. */
function sharesOf({ price, networkApp: { owner }, transfer }: PaidOrder): { earned: Split; platformShare: string } {
  const sum = (currency: 'POINTS' | 'NUM') =>
    transfer.entries
      .filter((entry) => entry.walletId === owner.id && entry.currency === currency)
      .map(({ amount }) => toUnits(amount))
      // An owner who buys an own app also has negative entries in the transfer.
      .filter((units) => units > 0n)
      .reduce((total, units) => total + units, 0n)
  const [points, num] = [sum('POINTS'), sum('NUM')]
  return {
    earned: { points: fromUnits(points), num: fromUnits(num) },
    platformShare: fromUnits(toUnits(price) - points - num),
  }
}

/** Returns the facts for a refund mail, or undefined if the refund does not exist. */
async function refundFacts({ database }: Needs, order: PaidOrder, where: Prisma.RefundWhereInput) {
  const refund = await database.read.refund.findFirst({
    where: { ...where, orderId: order.id },
    select: { points: true, num: true, reason: true, createdAt: true, transferId: true },
  })
  return (
    refund && {
      ...factsOf(order, refund.createdAt),
      returned: { points: formatAmount(refund.points), num: formatAmount(refund.num) },
      reason: refund.reason,
      chargeId: toId('transfer', order.transfer.id),
      refundId: toId('transfer', refund.transferId),
    }
  )
}

/** Returns the content of a mail, or undefined if its refund does not exist. */
async function messageOf(context: Needs, order: PaidOrder, job: OrderMailJob): Promise<OrderMessage | undefined> {
  switch (job.template) {
    case 'receipt': {
      const chargeId = toId('transfer', order.transfer.id)
      return { template: job.template, ...factsOf(order), paid: paidFor(order), chargeId }
    }
    case 'sale':
      return { template: job.template, ...factsOf(order), ...sharesOf(order) }
    case 'order-failed': {
      const { owner } = order.networkApp
      const contact = canReach(owner, context) ? owner.email : null
      return {
        ...{ template: job.template, paid: paidFor(order), contact },
        ...factsOf(order, order.settledAt ?? order.paidAt),
      }
    }
    case 'automatic-refund': {
      const facts = await refundFacts(context, order, { transfer: { reference: `order-refund:${order.id}` } })
      return facts ? { template: job.template, ...facts } : undefined
    }
    case 'administrator-refund': {
      const facts = await refundFacts(context, order, { id: job.refundId })
      if (!facts) return undefined
      const total = add(facts.returned.points, facts.returned.num)
      return { template: job.template, ...facts, isWhole: toUnits(total) === toUnits(order.price) }
    }
  }
}

/**
 * Runs a job of the queue `mail`. Sends nothing if the order is not paid, the refund does not exist, or the recipient
 * was deleted. Throws UNAVAILABLE if the mail server did not accept the mail. The queue then retries with the same
 * message ID.
 */
export async function sendOrderMail(context: Needs, job: OrderMailJob): Promise<void> {
  const { composeMail, database, log, mailer } = context
  const { template, orderId } = job
  const fields = { template, order: toId('order', orderId) }
  const order = await database.read.order.findFirst({ where: { id: orderId }, select: orderFields })
  const message = isPaid(order) ? await messageOf(context, order, job) : undefined
  const to = template === 'sale' ? order?.networkApp.owner : order?.buyer
  if (!message || !to || !canReach(to, context)) {
    log.debug(fields, 'Mail dropped: no recipient')
    return
  }
  const id = `${template}-${job.template === 'administrator-refund' ? toId('refund', job.refundId) : message.orderId}`
  const mail = { ...composeMail(message, to.language), id, to: { name: to.displayName, address: to.email } }
  await mailer.send({ ...mail, date: message.at }).catch(dropIfRejected(log, fields))
}
