/**
 * The documented rules of wallets, orders, commits, accounts and the clock: the response of each operation and the resulting
 * state. Independent of HTTP, SQL and the service's code.
 */
import type { ErrorCode } from '../../../src/shared/errors.ts'
import { type Deed, keyed, type Who } from './deeds.ts'
import {
  type Account,
  type App,
  accountOf,
  book,
  hasAccount,
  type Money,
  none,
  type Order,
  openAccount,
  type State,
  terms,
} from './state.ts'
import { decimal, least, most, shareOf, units } from './units.ts'

/** An operation with the name of its result and its idempotency key. */
export interface Attempt {
  name: string
  deed: Deed
  key?: string | undefined
}

/** Decisions of the service that the model cannot predict, such as the chain's fee for a transfer. */
export interface Seen {
  fee?: bigint | undefined
}

/** The expected result of an operation. `shown`: fields that both APIs return. */
export interface Outcome {
  code: ErrorCode | 'ok'
  or?: readonly (ErrorCode | undefined)[]
  shown?: Record<string, unknown> | undefined
}

const MOST_GUESSES = 4

const ok = (shown?: Outcome['shown']): Outcome => ({ code: 'ok', shown })
const refused = (code: ErrorCode): Outcome => ({ code })

const total = ({ num, points }: Money) => num + points

function split(amount: bigint, { points }: Money): Money {
  const inPoints = least(points, amount)
  return { points: inPoints, num: amount - inPoints }
}

function refusalOfCommit(account: Account, maxCost: string | undefined): ErrorCode | undefined {
  const cost = terms.fee + terms.gas
  if (maxCost !== undefined && cost > units(maxCost)) return 'PRICE_EXCEEDS_MAX_COST'
  return total(account) < cost ? 'ASSET_COMMIT_INSUFFICIENT_FUND' : undefined
}

function payCommit(state: State, account: Account) {
  const paid = split(terms.fee + terms.gas, account)
  account.num -= paid.num
  account.points -= paid.points
  const fee = split(terms.fee, paid)
  book(state, 'REVENUE', fee)
  book(state, 'GAS', { num: paid.num - fee.num, points: paid.points - fee.points })
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
  buyer.num -= paid.num
  buyer.points -= paid.points
  buyer.openOrders -= 1
  seller.num += paid.num - share.num
  seller.points += paid.points - share.points
  book(state, 'REVENUE', share)
  Object.assign(order, { status: 'SUCCESS', paid, earned: share })
  return ok(shownOrder(order))
}

const leftOf = ({ paid, refunded }: Order): Money => ({
  num: paid.num - refunded.num,
  points: paid.points - refunded.points,
})

function shareBack({ earned, paid, refunded }: Order, now: Money, currency: keyof Money): bigint {
  const of = (amount: bigint) => shareOf(earned[currency], amount, paid[currency])
  return of(refunded[currency] + now[currency]) - of(refunded[currency])
}

function refund(state: State, order: Order, amount: bigint): Outcome {
  const left = leftOf(order)
  const inNum = least(amount, left.num)
  const back = { num: inNum, points: amount - inNum }
  const share = { num: shareBack(order, back, 'num'), points: shareBack(order, back, 'points') }
  const app = state.apps[order.app]!
  const changes = new Map<string, Money>()
  const change = (name: string, { num, points }: Money) => {
    const before = changes.get(name) ?? none
    changes.set(name, { num: before.num + num, points: before.points + points })
  }
  change(order.buyer, back)
  change(app.owner, { num: share.num - back.num, points: share.points - back.points })
  book(state, 'REVENUE', { num: -share.num, points: -share.points })
  for (const [name, wanted] of changes) {
    const account = state.accounts[name]!
    const num = most(account.num + wanted.num, 0n) - account.num
    const points = most(account.points + wanted.points, 0n) - account.points
    account.num += num
    account.points += points
    // The platform pays what the owner has already spent.
    book(state, 'REVENUE', { num: wanted.num - num, points: wanted.points - points })
  }
  order.refunded = { num: order.refunded.num + back.num, points: order.refunded.points + back.points }
  if (total(leftOf(order)) === 0n) order.status = 'REFUNDED'
  return ok({ num: decimal(back.num), points: decimal(back.points) })
}

const isOverdue = ({ now }: State, { status, expiresAt }: Order) => status === 'CREATED' && expiresAt <= now

function confirm(state: State, order: Order, maxCost: string | undefined): Outcome {
  const app = state.apps[order.app]!
  if (order.status === 'SUCCESS' || order.status === 'REFUNDED') return ok(shownOrder(order))
  if (order.status === 'EXPIRED' || isOverdue(state, order)) return refused('ORDER_EXPIRED')
  if (state.accounts[app.owner]!.isDeleted || order.status === 'CANCELLED') return refused('UNABLE_TO_CONFIRM_ORDER')
  if (maxCost !== undefined && order.price > units(maxCost)) return refused('PRICE_EXCEEDS_MAX_COST')
  if (total(state.accounts[order.buyer]!) < order.price) return refused('INSUFFICIENT_FUND')
  return pay(state, order, app)
}

function cancel(state: State, order: Order): Outcome {
  if (order.status === 'EXPIRED' || isOverdue(state, order)) return refused('ORDER_EXPIRED')
  if (order.status === 'SUCCESS' || order.status === 'REFUNDED') return refused('UNABLE_TO_CANCEL_ORDER')
  if (order.status === 'CREATED') state.accounts[order.buyer]!.openOrders -= 1
  order.status = 'CANCELLED'
  return ok(shownOrder(order))
}

function refundable(state: State, order: Order, amount: string | null): Outcome {
  const left = total(leftOf(order))
  if (left === 0n) return refused('UNABLE_TO_REFUND_ORDER')
  if (state.accounts[order.buyer]!.isDeleted) return refused('UNABLE_TO_REFUND_ORDER')
  const wanted = amount === null ? left : units(amount)
  return wanted > left ? refused('VALIDATION_FAILED') : refund(state, order, wanted)
}

const feeAtMost = units('0.01')

function withdraw(state: State, owner: string, name: string, amount: bigint, { fee }: Seen): Outcome {
  const account = state.accounts[owner]!
  const isRecent = ({ owner: by, at, status }: State['withdrawals'][string]) =>
    by === owner && status !== 'CANCELLED' && state.now - at < terms.withdrawalDay
  const withdrawn = Object.values(state.withdrawals).filter(isRecent)
  const left = terms.withdrawnPerDay - withdrawn.reduce((sum, { amount }) => sum + amount, 0n)
  if (amount > left) return refused('VALIDATION_FAILED')
  if (fee === undefined ? account.num < amount + feeAtMost : account.num < amount + fee)
    return refused('INSUFFICIENT_FUND')
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

const administers: ReadonlySet<Deed['kind']> = new Set<Deed['kind']>([
  'grant',
  'refund',
  'lock',
  'unlock',
  'list',
  'price',
  'unlist',
])
const ownTerms: ReadonlySet<Deed['kind']> = new Set<Deed['kind']>(['signUp', 'signIn', 'deposit', 'elapse', 'sweep'])

function refusalOfActor(state: State, deed: Deed): ErrorCode | undefined {
  if (ownTerms.has(deed.kind)) return undefined
  const { who } = deed as { who: Who }
  const session = who === 'admin' ? 'good' : who === 'anonymous' ? 'none' : state.places[who]!.session
  if (session === 'stale') return 'AUTHENTICATION_FAILED'
  if (session === 'none') return deed.kind === 'readAsset' ? undefined : 'NOT_AUTHENTICATED'
  if (administers.has(deed.kind) && who !== 'admin') return 'PERMISSION_DENIED'
  return deed.kind === 'order' && !deed.isTrusted ? 'UNTRUSTED_CLIENT' : undefined
}

function carryOut(state: State, name: string, deed: Deed, seen: Seen): Outcome {
  const me = 'who' in deed ? accountOf(state, deed.who) : undefined
  switch (deed.kind) {
    case 'signUp': {
      if (hasAccount(state, deed.as)) return refused('DUPLICATE_USERNAME')
      openAccount(state, name)
      state.places[deed.who]!.account = name
      return ok()
    }
    case 'signIn': {
      if (!hasAccount(state, deed.who)) {
        const place = state.places[deed.who]!
        place.guesses += 1
        return refused(place.guesses > MOST_GUESSES ? 'THROTTLED' : 'INCORRECT_LOGIN_CREDENTIALS')
      }
      if (state.accounts[me!]!.isLocked) return refused('AUTHENTICATION_FAILED')
      state.places[deed.who]!.session = 'good'
      return ok()
    }
    case 'signOut':
      state.places[deed.who]!.session = 'stale'
      return ok()
    case 'deposit':
      state.accounts[me!]!.num += units(deed.amount)
      book(state, 'DEPOSITS', { num: -units(deed.amount), points: 0n })
      return ok()
    case 'grant': {
      if (!hasAccount(state, deed.to)) return refused('NOT_FOUND')
      const account = state.accounts[accountOf(state, deed.to)!]!
      const amount = units(deed.amount)
      account.points += amount
      book(state, 'PROMOTION', { num: 0n, points: -amount })
      return ok({ amount: decimal(amount) })
    }
    case 'register': {
      const account = state.accounts[me!]!
      const refusal = refusalOfCommit(account, deed.maxCost)
      const file = String(deed.file)
      const isThere = state.assets[file] !== undefined
      // REST checks the wallet before it reads the body with `maxCost`. The duplicate check comes last, when the
      // balance may be lower.
      if (refusal)
        return {
          code: refusal,
          or: [refusalOfCommit(account, undefined), isThere ? 'DUPLICATE_ASSET' : undefined],
        }
      if (isThere) return refused('DUPLICATE_ASSET')
      payCommit(state, account)
      const asset = { owner: me!, registration: name, isPublic: deed.isPublic, caption: '', commits: 1 }
      state.assets[file] = asset
      return ok({ caption: '', isPublic: deed.isPublic })
    }
    case 'update':
    case 'removeAsset': {
      const asset = state.assets[deed.file]
      if (!asset || (asset.owner !== me && !asset.isPublic)) return refused('NOT_FOUND')
      if (asset.owner !== me) return refused('ASSET_WRITE_PERMISSION_DENIED')
      if (deed.kind === 'removeAsset') {
        delete state.assets[deed.file]
        return ok()
      }
      const { caption = asset.caption, isPublic = asset.isPublic } = deed
      if (caption !== asset.caption || isPublic !== asset.isPublic) {
        const refusal = refusalOfCommit(state.accounts[me!]!, deed.maxCost)
        if (refusal) return refused(refusal)
        payCommit(state, state.accounts[me!]!)
        Object.assign(asset, { caption, isPublic, commits: asset.commits + 1 })
      }
      return ok({ caption, isPublic })
    }
    case 'readAsset': {
      const asset = state.assets[deed.file]
      if (!asset || (asset.owner !== me && !asset.isPublic)) return refused('NOT_FOUND')
      return ok({ caption: asset.caption, isPublic: asset.isPublic, commits: asset.commits })
    }
    case 'order': {
      const app = state.apps[deed.app]!
      const account = state.accounts[me!]!
      if (!app.isSold) return refused('INVALID_NETWORK_APP_NAME')
      if (deed.maxCost !== undefined && app.price > units(deed.maxCost)) return refused('PRICE_EXCEEDS_MAX_COST')
      if (total(account) < app.price) return refused('INSUFFICIENT_FUND')
      if (account.openOrders >= terms.openOrders) return refused('TOO_MANY_OPEN_ORDERS')
      account.openOrders += 1
      const order: Order = {
        ...{ buyer: me!, app: deed.app, price: app.price, status: 'CREATED', expiresAt: state.now + terms.orderWindow },
        ...{ paid: none, refunded: none, earned: none },
      }
      state.orders[name] = order
      return ok(shownOrder(order))
    }
    case 'confirm':
    case 'cancel': {
      const order = state.orders[deed.order]!
      if (order.buyer !== me) return refused('NOT_FOUND')
      return deed.kind === 'cancel' ? cancel(state, order) : confirm(state, order, deed.maxCost)
    }
    case 'refund':
      return refundable(state, state.orders[deed.order]!, deed.amount)
    case 'withdraw':
      return withdraw(state, me!, name, units(deed.amount), seen)
    case 'cancelWithdrawal': {
      const found = state.withdrawals[deed.withdrawal]!
      if (found.owner !== me) return refused('NOT_FOUND')
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
      if (!hasAccount(state, deed.whom)) return refused('NOT_FOUND')
      const place = state.places[deed.whom]!
      const account = state.accounts[place.account!]!
      account.isLocked = deed.kind === 'lock'
      if (account.isLocked && place.session === 'good') place.session = 'stale'
      return ok()
    }
    case 'list':
      state.apps[name] = { owner: 'admin', price: units(deed.price), isSold: true }
      return ok()
    case 'price':
      state.apps[deed.app]!.price = units(deed.price)
      return ok()
    case 'unlist':
      state.apps[deed.app]!.isSold = false
      return ok()
    case 'elapse':
      state.now += deed.minutes
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
export function step(state: State, { name, deed, key }: Attempt, seen: Seen = {}): Outcome {
  const refusal = refusalOfActor(state, deed)
  if (refusal) return refused(refusal)
  if (key === undefined || !keyed.has(deed.kind)) return carryOut(state, name, deed, seen)
  const known = `${accountOf(state, (deed as { who: Who }).who)} ${key}`
  const meaning = JSON.stringify(deed)
  const before = state.keys[known]
  if (before === meaning) return ok()
  if (before !== undefined) return refused('IDEMPOTENCY_KEY_REUSED')
  const outcome = carryOut(state, name, deed, seen)
  if (outcome.code === 'ok') state.keys[known] = meaning
  return outcome
}
