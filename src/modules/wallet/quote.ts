/** The cost of a paid action, and the reasons for which a wallet is not charged. */
import { z } from 'zod'
import { DomainError, type ErrorCode } from '../../shared/errors.ts'
import { AMOUNT, type Amount, add, formatAmount, fromUnits, least, toUnits } from '../../shared/money.ts'

/** Decimal strings in currency units. */
export interface Cost {
  price: Amount
  /** For the chain transaction; none when left out. */
  gas?: Amount
}

/** What a wallet can spend. */
export interface Funds {
  num: Amount
  points: Amount
}

/** One thing that stands in the way. */
export interface Problem {
  code: ErrorCode
  message: string
  /** Name of the input field; null when it is about none. */
  field: string | null
}

/** How an amount is paid: points first. Decimal strings. */
export interface Quote {
  price: string
  gas: string
  total: string
  /** What the wallet holds: num and points. */
  num: string
  points: string
  available: string
  /** How the total is split. What is missing stands in neither. */
  pointsCharged: string
  numCharged: string
  missing: string
  /** Everything the real call would refuse; empty: it would be carried out. */
  problems: Problem[]
}

/** What costs nothing. */
export const nothingToPay: Cost = { price: '0' }

/** The highest total the caller agrees to; a higher one is refused. */
export const maxCost = z.string().regex(AMOUNT, 'Expected an amount such as 0.5.').optional()

const totalOf = ({ price, gas = '0' }: Cost) => toUnits(price) + toUnits(gas)

/** Splits the cost as `pointsFirstSql` does when a wallet is charged: points first. Reports missing funds instead of raising. */
export function quoteOf(cost: Cost, funds: Funds, refusals: DomainError[] = []): Quote {
  const total = totalOf(cost)
  const points = least(toUnits(funds.points), total)
  const num = least(toUnits(funds.num), total - points)
  return {
    price: formatAmount(cost.price),
    gas: formatAmount(cost.gas ?? '0'),
    total: fromUnits(total),
    num: formatAmount(funds.num),
    points: formatAmount(funds.points),
    available: add(funds.num, funds.points),
    pointsCharged: fromUnits(points),
    numCharged: fromUnits(num),
    missing: fromUnits(total - points - num),
    problems: refusals.flatMap(problemsOf),
  }
}

/** Whether these funds are enough; points and currency units count alike. */
export const canPay = (cost: Cost, funds: Funds) => toUnits(funds.num) + toUnits(funds.points) >= totalOf(cost)

const shortfalls = {
  commit: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'Insufficient fund for the asset commit.'],
  order: ['INSUFFICIENT_FUND', 'Insufficient fund for the order payment.'],
} as const

/** What is paid for. */
export type Purpose = keyof typeof shortfalls

/** Raised when a wallet cannot pay. The details end in the amount needed: old callers read it there. */
export function shortfallOf(purpose: Purpose, cost: Cost, funds: Funds): DomainError {
  const { total: required, available, missing } = quoteOf(cost, funds)
  const [code, message] = shortfalls[purpose]
  return new DomainError(code, message, {
    shortfall: { required, available, missing },
    details: `Available ${available}, missing ${missing}. Please top up your wallet. Amount needed: ${required}`,
  })
}

/** Why this cost is not charged: it is higher than the caller agreed to, or than the wallet holds. */
export function refusalsOf(
  purpose: Purpose,
  cost: Cost,
  { funds, maxCost }: { funds?: Funds; maxCost?: string | undefined },
): DomainError[] {
  const refusals: DomainError[] = []
  const total = totalOf(cost)
  if (maxCost !== undefined && total > toUnits(maxCost)) {
    const message = `This costs ${fromUnits(total)}, more than the ${formatAmount(maxCost)} you agreed to.`
    refusals.push(new DomainError('PRICE_EXCEEDS_MAX_COST', message))
  }
  if (funds && !canPay(cost, funds)) refusals.push(shortfallOf(purpose, cost, funds))
  return refusals
}

/** Lists a refusal as problems of a quote: one for each message of each field. */
export function problemsOf({ code, message, details }: DomainError): Problem[] {
  if (code !== 'VALIDATION_FAILED' || typeof details !== 'object' || Array.isArray(details)) {
    return [{ code, message, field: null }]
  }
  return Object.entries(details).flatMap(([field, messages]) => messages.map((message) => ({ code, message, field })))
}
