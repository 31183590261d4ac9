/** Mails about orders. A mail is composed from the current data when it is sent. */
import type { Use } from '../../context.ts'
import type { Prisma } from '../../db/prisma/client.ts'
import type { OrderMailJob } from '../../jobs/queues.ts'
import type { OrderMessage } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { isEmailUsable } from '../accounts/account-input.ts'

type Needs = Use<'composeMail' | 'config' | 'database' | 'log' | 'mailer'>

const person = {
  select: { id: true, displayName: true, email: true, emailHeld: true, emailVerified: true, language: true },
} satisfies Prisma.UserDefaultArgs

const orderFields = {
  ...{ id: true, networkAppName: true, price: true, pointsPaid: true, numPaid: true, paidAt: true, settledAt: true },
  buyer: person,
  networkApp: { select: { owner: person } },
  transfer: { select: { id: true, entries: { select: { walletId: true, currency: true, amount: true } } } },
} satisfies Prisma.OrderSelect

type Order = Prisma.OrderGetPayload<{ select: typeof orderFields }>
type PaidOrder = Order & { paidAt: Date; transfer: NonNullable<Order['transfer']> }

const isPaid = (order: Order | null): order is PaidOrder => Boolean(order?.paidAt && order.transfer)

/** Returns true for a real e-mail address. Deleted accounts have none, or one under `.invalid`. */
const isAddress = (email: string) => /^[^\s@]+@[^\s@]+$/.test(email) && !/[.@]invalid$/i.test(email)

const canReach = (person: Order['buyer'], { config }: Needs) =>
  isAddress(person.email) && isEmailUsable(person, config.emailVerification !== 'off')

const factsOf = (order: PaidOrder, at = order.paidAt) => ({
  appName: order.networkAppName,
  orderId: toId('order', order.id),
  price: formatAmount(order.price),
  at,
})

const paidFor = ({ pointsPaid, numPaid }: PaidOrder) => ({
  points: formatAmount(pointsPaid),
  num: formatAmount(numPaid),
})

/** Returns the owner's income from a payment, and the platform's share of the price. */
function sharesOf({ price, networkApp: { owner }, transfer }: PaidOrder) {
  const sum = (currency: 'POINTS' | 'NUM') =>
    transfer.entries
      .filter((entry) => entry.walletId === owner.id && entry.currency === currency)
      .map(({ amount }) => toUnits(amount))
      // An owner who buys an own app also has negative entries in the transfer.
      .reduce((total, units) => (units > 0n ? total + units : total), 0n)
  const [points, num] = [sum('POINTS'), sum('NUM')]
  return {
    earned: { points: fromUnits(points), num: fromUnits(num) },
    platformShare: fromUnits(toUnits(price) - points - num),
  }
}

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
  const { template } = job
  switch (template) {
    case 'receipt':
      return { template, ...factsOf(order), paid: paidFor(order), chargeId: toId('transfer', order.transfer.id) }
    case 'sale':
      return { template, ...factsOf(order), ...sharesOf(order) }
    case 'order-failed': {
      const { owner } = order.networkApp
      const contact = canReach(owner, context) ? owner.email : null
      return { template, ...factsOf(order, order.settledAt ?? order.paidAt), paid: paidFor(order), contact }
    }
    case 'automatic-refund': {
      const facts = await refundFacts(context, order, { transfer: { reference: `order-refund:${order.id}` } })
      return facts ? { template, ...facts } : undefined
    }
    case 'administrator-refund': {
      const facts = await refundFacts(context, order, { id: job.refundId })
      if (!facts) return undefined
      const total = add(facts.returned.points, facts.returned.num)
      return { template, ...facts, isWhole: toUnits(total) === toUnits(order.price) }
    }
  }
}

/**
 * Runs a job of the queue `mail`. Sends nothing if the order is not paid, the refund does not exist, or the recipient
 * was deleted. Throws UNAVAILABLE if the mail server did not accept the mail. A retry has the same message ID.
 */
export async function sendOrderMail(context: Needs, job: OrderMailJob): Promise<void> {
  const { composeMail, database, log, mailer } = context
  const { template, orderId } = job
  const fields = { template, order: toId('order', orderId) }
  const order = await database.read.order.findFirst({ where: { id: orderId }, select: orderFields })
  const message = isPaid(order) ? await messageOf(context, order, job) : undefined
  const to = template === 'sale' ? order?.networkApp.owner : order?.buyer
  if (!message || !to || !canReach(to, context)) return log.debug(fields, 'Mail dropped: no recipient')
  const id = `${template}-${template === 'administrator-refund' ? toId('refund', job.refundId) : message.orderId}`
  const mail = { ...composeMail(message, to.language), id, to: { name: to.displayName, address: to.email } }
  await mailer.send({ ...mail, date: message.at }).catch(dropIfRejected(log, fields))
}
