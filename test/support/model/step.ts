/**
 * The documented rules of wallets, orders, commits, accounts and the clock: the response of each operation and the resulting
 * state. Independent of HTTP, SQL and the service's code.
 */
import type { ErrorCode } from '../../../src/shared/errors.ts'
import { type Caller, type Kind, keyed, type Operation } from './operations.ts'
import {
  type Account,
  type App,
  accountOf,
  book,
  hasAccount,
  type Money,
  minus,
  none,
  type Order,
  openAccount,
  plus,
  type State,
  terms,
} from './state.ts'
import { decimal, max, min, shareOf, units } from './units.ts'

/** An operation with the name of its result and its idempotency key. */
export type Attempt = { name: string; operation: Operation; key?: string | undefined }

/** Decisions of the service that the model cannot predict, such as the chain's fee for a transfer. */
export type Decisions = { fee?: bigint | undefined }

/** The expected result of an operation. `shown`: fields that both APIs return. */
export interface Outcome {
  code: ErrorCode | 'ok'
  or?: readonly (ErrorCode | undefined)[]
  shown?: Record<string, unknown> | undefined
}

const MAX_GUESSES = 4

const ok = (shown?: Outcome['shown']): Outcome => ({ code: 'ok', shown })
const failed = (code: ErrorCode): Outcome => ({ code })

const total = ({ num, points }: Money) => num + points

function split(amount: bigint, { points }: Money): Money {
  const inPoints = min(points, amount)
  return { points: inPoints, num: amount - inPoints }
}

function commitError(account: Account, maxCost: string | undefined): ErrorCode | undefined {
  const cost = terms.fee + terms.gas
  if (maxCost !== undefined && cost > units(maxCost)) return 'PRICE_EXCEEDS_MAX_COST'
  return total(account) < cost ? 'ASSET_COMMIT_INSUFFICIENT_FUND' : undefined
}

function payCommit(state: State, account: Account) {
  const paid = split(terms.fee + terms.gas, account)
  Object.assign(account, minus(account, paid))
  const fee = split(terms.fee, paid)
  book(state, 'REVENUE', fee)
  book(state, 'GAS', minus(paid, fee))
}

const shownOrder = ({ status, price, paid }: Order) => ({
  status: status === 'CREATED' || status === 'SUCCESS' ? status : 'FAILURE',
  price: decimal(price),
  num: decimal(paid.num),
  points: decimal(paid.points),
})

function pay(state: State, order: Order, app: App): Outcome {
  const buyer = state.accounts[order.buyer]!
  const seller = state.accounts[app.owner]!
  const paid = split(order.price, buyer)
  const share = {
    num: shareOf(paid.num, terms.platformPercent, 100n),
    points: shareOf(paid.points, terms.platformPercent, 100n),
  }
  Object.assign(buyer, minus(buyer, paid), { openOrders: buyer.openOrders - 1 })
  Object.assign(seller, plus(seller, minus(paid, share)))
  book(state, 'REVENUE', share)
  Object.assign(order, { status: 'SUCCESS', paid, earned: share })
  return ok(shownOrder(order))
}

const leftOf = ({ paid, refunded }: Order) => minus(paid, refunded)

function shareBack({ earned, paid, refunded }: Order, now: Money, currency: keyof Money): bigint {
  const of = (amount: bigint) => shareOf(earned[currency], amount, paid[currency])
  return of(refunded[currency] + now[currency]) - of(refunded[currency])
}

function refund(state: State, order: Order, amount: bigint): Outcome {
  const left = leftOf(order)
  const inNum = min(amount, left.num)
  const back = { num: inNum, points: amount - inNum }
  const share = { num: shareBack(order, back, 'num'), points: shareBack(order, back, 'points') }
  const app = state.apps[order.app]!
  const changes = new Map([[order.buyer, back]])
  changes.set(app.owner, plus(changes.get(app.owner) ?? none, minus(share, back)))
  book(state, 'REVENUE', minus(none, share))
  for (const [name, wanted] of changes) {
    const account = state.accounts[name]!
    const sum = plus(account, wanted)
    const after = { num: max(sum.num, 0n), points: max(sum.points, 0n) }
    // The platform pays what the owner has already spent.
    book(state, 'REVENUE', minus(sum, after))
    Object.assign(account, after)
  }
  order.refunded = plus(order.refunded, back)
  if (total(leftOf(order)) === 0n) order.status = 'REFUNDED'
  return ok({ num: decimal(back.num), points: decimal(back.points) })
}

const isOverdue = ({ now }: State, { status, expiresAt }: Order) => status === 'CREATED' && expiresAt <= now

function confirm(state: State, order: Order, maxCost: string | undefined): Outcome {
  const app = state.apps[order.app]!
  if (order.status === 'SUCCESS' || order.status === 'REFUNDED') return ok(shownOrder(order))
  if (order.status === 'EXPIRED' || isOverdue(state, order)) return failed('ORDER_EXPIRED')
  if (state.accounts[app.owner]!.isDeleted || order.status === 'CANCELLED') return failed('UNABLE_TO_CONFIRM_ORDER')
  if (maxCost !== undefined && order.price > units(maxCost)) return failed('PRICE_EXCEEDS_MAX_COST')
  if (total(state.accounts[order.buyer]!) < order.price) return failed('INSUFFICIENT_FUND')
  return pay(state, order, app)
}

function cancel(state: State, order: Order): Outcome {
  if (order.status === 'EXPIRED' || isOverdue(state, order)) return failed('ORDER_EXPIRED')
  if (order.status === 'SUCCESS' || order.status === 'REFUNDED') return failed('UNABLE_TO_CANCEL_ORDER')
  if (order.status === 'CREATED') state.accounts[order.buyer]!.openOrders -= 1
  order.status = 'CANCELLED'
  return ok(shownOrder(order))
}

function tryRefund(state: State, order: Order, amount: string | null): Outcome {
  const left = total(leftOf(order))
  if (left === 0n) return failed('UNABLE_TO_REFUND_ORDER')
  if (state.accounts[order.buyer]!.isDeleted) return failed('UNABLE_TO_REFUND_ORDER')
  const wanted = amount === null ? left : units(amount)
  return wanted > left ? failed('VALIDATION_FAILED') : refund(state, order, wanted)
}

const feeAtMost = units('0.01')

function withdraw(state: State, owner: string, name: string, amount: bigint, { fee }: Decisions): Outcome {
  const account = state.accounts[owner]!
  const isRecent = ({ owner: by, at, status }: State['withdrawals'][string]) =>
    by === owner && status !== 'CANCELLED' && state.now - at < terms.withdrawalDay
  const withdrawn = Object.values(state.withdrawals).filter(isRecent)
  const left = terms.withdrawnPerDay - withdrawn.reduce((sum, { amount }) => sum + amount, 0n)
  if (amount > left) return failed('VALIDATION_FAILED')
  if (fee === undefined ? account.num < amount + feeAtMost : account.num < amount + fee)
    return failed('INSUFFICIENT_FUND')
  account.num -= amount + (fee ?? 0n)
  state.withdrawals[name] = { owner, amount, fee: fee ?? 0n, at: state.now, status: 'WAITING' }
  book(state, 'WITHDRAWALS', { num: amount, points: 0n })
  book(state, 'GAS', { num: fee ?? 0n, points: 0n })
  return ok({ amount: decimal(amount), status: 'WAITING' })
}

function deleteAccount(state: State, name: string) {
  const account = state.accounts[name]!
  for (const [file, { owner }] of Object.entries(state.assets)) if (owner === name) delete state.assets[file]
  for (const order of Object.values(state.orders)) {
    if (order.buyer === name && order.status === 'CREATED') order.status = 'CANCELLED'
  }
  for (const app of Object.values(state.apps)) if (app.owner === name) app.isSold = false
  book(state, 'FORFEITED', account)
  Object.assign(account, { num: 0n, points: 0n, isDeleted: true, openOrders: 0 })
  for (const place of state.places) if (place.account === name) place.session = 'stale'
}

function sweep(state: State) {
  for (const order of Object.values(state.orders)) {
    if (!isOverdue(state, order)) continue
    order.status = 'EXPIRED'
    state.accounts[order.buyer]!.openOrders -= 1
  }
}

const adminOperations: readonly Kind[] = ['grant', 'refund', 'lock', 'unlock', 'list', 'price', 'unlist']
const anonymousOperations: readonly Kind[] = ['signUp', 'signIn', 'deposit', 'elapse', 'sweep']

function callerError(state: State, operation: Operation): ErrorCode | undefined {
  if (anonymousOperations.includes(operation.kind)) return undefined
  const { who } = operation as { who: Caller }
  const session = who === 'admin' ? 'good' : who === 'anonymous' ? 'none' : state.places[who]!.session
  if (session === 'stale') return 'AUTHENTICATION_FAILED'
  if (session === 'none') return operation.kind === 'readAsset' ? undefined : 'NOT_AUTHENTICATED'
  if (adminOperations.includes(operation.kind) && who !== 'admin') return 'PERMISSION_DENIED'
  return operation.kind === 'order' && !operation.isTrusted ? 'UNTRUSTED_CLIENT' : undefined
}

function execute(state: State, name: string, operation: Operation, decisions: Decisions): Outcome {
  const me = 'who' in operation ? accountOf(state, operation.who) : undefined
  switch (operation.kind) {
    case 'signUp': {
      if (hasAccount(state, operation.as)) return failed('DUPLICATE_USERNAME')
      openAccount(state, name)
      state.places[operation.who]!.account = name
      return ok()
    }
    case 'signIn': {
      if (!hasAccount(state, operation.who)) {
        const place = state.places[operation.who]!
        place.guesses += 1
        return failed(place.guesses > MAX_GUESSES ? 'THROTTLED' : 'INCORRECT_LOGIN_CREDENTIALS')
      }
      if (state.accounts[me!]!.isLocked) return failed('AUTHENTICATION_FAILED')
      state.places[operation.who]!.session = 'good'
      return ok()
    }
    case 'signOut':
      state.places[operation.who]!.session = 'stale'
      return ok()
    case 'deposit':
      state.accounts[me!]!.num += units(operation.amount)
      book(state, 'DEPOSITS', { num: -units(operation.amount), points: 0n })
      return ok()
    case 'grant': {
      if (!hasAccount(state, operation.to)) return failed('NOT_FOUND')
      const account = state.accounts[accountOf(state, operation.to)!]!
      const amount = units(operation.amount)
      account.points += amount
      book(state, 'PROMOTION', { num: 0n, points: -amount })
      return ok({ amount: decimal(amount) })
    }
    case 'register': {
      const account = state.accounts[me!]!
      const error = commitError(account, operation.maxCost)
      const file = String(operation.file)
      const isThere = state.assets[file] !== undefined
      // REST checks the wallet before it reads the body with `maxCost`. The duplicate check comes last, when the
      // balance may be lower.
      if (error) return { code: error, or: [commitError(account, undefined), isThere ? 'DUPLICATE_ASSET' : undefined] }
      if (isThere) return failed('DUPLICATE_ASSET')
      payCommit(state, account)
      const asset = { owner: me!, registration: name, isPublic: operation.isPublic, caption: '', commits: 1 }
      state.assets[file] = asset
      return ok({ caption: '', isPublic: operation.isPublic })
    }
    case 'update':
    case 'removeAsset': {
      const asset = state.assets[operation.file]
      if (!asset || (asset.owner !== me && !asset.isPublic)) return failed('NOT_FOUND')
      if (asset.owner !== me) return failed('ASSET_WRITE_PERMISSION_DENIED')
      if (operation.kind === 'removeAsset') {
        delete state.assets[operation.file]
        return ok()
      }
      const { caption = asset.caption, isPublic = asset.isPublic } = operation
      if (caption !== asset.caption || isPublic !== asset.isPublic) {
        const error = commitError(state.accounts[me!]!, operation.maxCost)
        if (error) return failed(error)
        payCommit(state, state.accounts[me!]!)
        Object.assign(asset, { caption, isPublic, commits: asset.commits + 1 })
      }
      return ok({ caption, isPublic })
    }
    case 'readAsset': {
      const asset = state.assets[operation.file]
      if (!asset || (asset.owner !== me && !asset.isPublic)) return failed('NOT_FOUND')
      return ok({ caption: asset.caption, isPublic: asset.isPublic, commits: asset.commits })
    }
    case 'order': {
      const app = state.apps[operation.app]!
      const account = state.accounts[me!]!
      if (!app.isSold) return failed('INVALID_NETWORK_APP_NAME')
      if (operation.maxCost !== undefined && app.price > units(operation.maxCost))
        return failed('PRICE_EXCEEDS_MAX_COST')
      if (total(account) < app.price) return failed('INSUFFICIENT_FUND')
      if (account.openOrders >= terms.openOrders) return failed('TOO_MANY_OPEN_ORDERS')
      account.openOrders += 1
      const order: Order = {
        ...{
          buyer: me!,
          app: operation.app,
          price: app.price,
          status: 'CREATED',
          expiresAt: state.now + terms.orderWindow,
        },
        ...{ paid: none, refunded: none, earned: none },
      }
      state.orders[name] = order
      return ok(shownOrder(order))
    }
    case 'confirm':
    case 'cancel': {
      const order = state.orders[operation.order]!
      if (order.buyer !== me) return failed('NOT_FOUND')
      return operation.kind === 'cancel' ? cancel(state, order) : confirm(state, order, operation.maxCost)
    }
    case 'refund':
      return tryRefund(state, state.orders[operation.order]!, operation.amount)
    case 'withdraw':
      return withdraw(state, me!, name, units(operation.amount), decisions)
    case 'cancelWithdrawal': {
      const found = state.withdrawals[operation.withdrawal]!
      if (found.owner !== me) return failed('NOT_FOUND')
      if (found.status === 'WAITING') {
        found.status = 'CANCELLED'
        state.accounts[me]!.num += found.amount + found.fee
        book(state, 'WITHDRAWALS', { num: -found.amount, points: 0n })
        book(state, 'GAS', { num: -found.fee, points: 0n })
      }
      return ok({ amount: decimal(found.amount), status: 'CANCELLED' })
    }
    case 'deleteAccount':
      deleteAccount(state, me!)
      return ok()
    case 'lock':
    case 'unlock': {
      if (!hasAccount(state, operation.whom)) return failed('NOT_FOUND')
      const place = state.places[operation.whom]!
      const account = state.accounts[place.account!]!
      account.isLocked = operation.kind === 'lock'
      if (account.isLocked && place.session === 'good') place.session = 'stale'
      return ok()
    }
    case 'list':
      state.apps[name] = { owner: 'admin', price: units(operation.price), isSold: true }
      return ok()
    case 'price':
      state.apps[operation.app]!.price = units(operation.price)
      return ok()
    case 'unlist':
      state.apps[operation.app]!.isSold = false
      return ok()
    case 'elapse':
      state.now += operation.minutes
      return ok()
    case 'sweep':
      sweep(state)
      return ok()
    case 'balance': {
      const { num, points } = state.accounts[me!]!
      return ok({ num: decimal(num), points: decimal(points) })
    }
  }
}

/** Applies an operation to the state and returns the expected response. */
export function step(state: State, { name, operation, key }: Attempt, decisions: Decisions = {}): Outcome {
  const error = callerError(state, operation)
  if (error) return failed(error)
  if (key === undefined || !keyed.has(operation.kind)) return execute(state, name, operation, decisions)
  const known = `${accountOf(state, (operation as { who: Caller }).who)} ${key}`
  const meaning = JSON.stringify(operation)
  const before = state.keys[known]
  if (before === meaning) return ok()
  if (before !== undefined) return failed('IDEMPOTENCY_KEY_REUSED')
  const outcome = execute(state, name, operation, decisions)
  if (outcome.code === 'ok') state.keys[known] = meaning
  return outcome
}
