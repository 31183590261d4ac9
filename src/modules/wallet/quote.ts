/** Prices, balances and quotes. A quote has the cost of an operation and all errors that would prevent it. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { boolean, numeric, statement, uuid } from '../../db/sql.ts'
import { DomainError, type ErrorCode } from '../../shared/errors.ts'
import { AMOUNT, type Amount, add, formatAmount, fromUnits, least, toUnits } from '../../shared/money.ts'

type Prices = Use<'config' | 'gasFee'>

/** Returns the current cost of one commit. Read the cost once per operation, because the gas fee changes. */
export const readCommitCost = ({ config, gasFee }: Prices) => ({
  price: formatAmount(config.money.assetUpdateFee),
  gas: formatAmount(gasFee()),
})

export type Pricing = ReturnType<typeof readPricing>

export function readPricing(context: Prices) {
  const { price, gas } = readCommitCost(context)
  return { assetUpdateFee: price, gasFee: gas, total: add(price, gas), currency: context.config.money.currency }
}

/** `gas`: fee for the chain transaction of the operation. */
type Cost = { price: Amount; gas?: Amount }
export type Funds = { num: Amount; points: Amount }
export const noCost: Cost = { price: '0' }

const findFunds = statement(
  'wallet_funds',
  { parameters: { user: uuid }, columns: { num: numeric, points: numeric, closed: boolean } },
  'select num, points, closed_at is not null as closed from wallets where user_id = $user',
)

/** Returns the balances of a user by UUID. `closed`: the account was deleted. */
export async function readFunds({ database }: Use<'database'>, userId: string) {
  const [funds] = await database.query(findFunds, { user: userId })
  if (!funds) throw new Error('A user has no wallet.')
  return funds
}

export interface Problem {
  code: ErrorCode
  message: string
  /** Name of the input field, or null if the problem concerns no field. */
  field: string | null
}

export type Quote = ReturnType<typeof quoteOf>

export const maxCost = z.string().regex(AMOUNT, 'Expected an amount such as 0.5.').optional()
const totalOf = ({ price, gas = '0' }: Cost) => toUnits(price) + toUnits(gas)

/** Splits a cost into points and currency units, like `pointsFirstSql`. Missing funds are no error. */
export function quoteOf(cost: Cost, funds: Funds, errors: DomainError[] = []) {
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
    problems: errors.flatMap(problemsOf),
  }
}

const insufficient = {
  commit: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'Insufficient fund for the asset commit.'],
  order: ['INSUFFICIENT_FUND', 'Insufficient fund for the order payment.'],
} as const

type Purpose = keyof typeof insufficient

/** Returns the error for a wallet that cannot pay. Old clients read the required amount from the end of the details. */
export function insufficientFunds(purpose: Purpose, cost: Cost, funds: Funds): DomainError {
  const { total: required, available, missing } = quoteOf(cost, funds)
  const [code, message] = insufficient[purpose]
  return new DomainError(code, message, {
    shortfall: { required, available, missing },
    details: `Available ${available}, missing ${missing}. Please top up your wallet. Amount needed: ${required}`,
  })
}

type Limits = { funds?: Funds; maxCost?: string | undefined }

export function validateCharge(purpose: Purpose, cost: Cost, { funds, maxCost }: Limits): DomainError[] {
  const errors: DomainError[] = []
  const total = totalOf(cost)
  if (maxCost !== undefined && total > toUnits(maxCost)) {
    const message = `This costs ${fromUnits(total)}, more than the ${formatAmount(maxCost)} you agreed to.`
    errors.push(new DomainError('PRICE_EXCEEDS_MAX_COST', message))
  }
  if (funds && toUnits(funds.num) + toUnits(funds.points) < total) errors.push(insufficientFunds(purpose, cost, funds))
  return errors
}

/** Converts an error to problems of a quote: one per message and field. */
export function problemsOf({ code, message, details }: DomainError): Problem[] {
  if (code !== 'VALIDATION_FAILED' || typeof details !== 'object' || Array.isArray(details)) {
    return [{ code, message, field: null }]
  }
  return Object.entries(details).flatMap(([field, messages]) => messages.map((message) => ({ code, message, field })))
}
