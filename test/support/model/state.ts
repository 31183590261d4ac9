/** The state of the model. It is plain data, so that it can be copied to try alternatives. */
import type { Caller } from './operations.ts'
import { decimal, units } from './units.ts'

export const terms = {
  signUpPoints: units('1'),
  fee: units('0.1'),
  gas: units('0.079'),
  platformPercent: 12n,
  orderWindow: 15,
  withdrawalDay: 24 * 60,
  withdrawnPerDay: units('6'),
  openOrders: 3,
} as const

/** An account. It may be deleted. */
export type Account = { num: bigint; points: bigint; isLocked: boolean; isDeleted: boolean; openOrders: number }

/** A place for a user. `session`: the state of the token that the user sends. */
export type Place = { account: string | undefined; session: 'none' | 'good' | 'stale'; guesses: number }

export type Asset = { owner: string; registration: string; isPublic: boolean; caption: string; commits: number }

export type App = { owner: string; price: bigint; isSold: boolean }

export interface Order {
  buyer: string
  app: string
  price: bigint
  status: 'CREATED' | 'SUCCESS' | 'EXPIRED' | 'CANCELLED' | 'REFUNDED'
  expiresAt: number
  paid: Money
  refunded: Money
  earned: Money
}

export type Withdrawal = { owner: string; amount: bigint; fee: bigint; at: number; status: 'WAITING' | 'CANCELLED' }

export type Money = { num: bigint; points: bigint }

export const none: Money = { num: 0n, points: 0n }
export const plus = (one: Money, other: Money): Money => ({
  ...{ num: one.num + other.num, points: one.points + other.points },
})
export const minus = (one: Money, other: Money): Money => ({
  ...{ num: one.num - other.num, points: one.points - other.points },
})

/** The platform's ledger accounts, as far as these users changed them. */
export type Book = 'REVENUE' | 'GAS' | 'PROMOTION' | 'DEPOSITS' | 'FORFEITED' | 'WITHDRAWALS'

export interface State {
  now: number
  places: Place[]
  accounts: Record<string, Account>
  assets: Record<string, Asset>
  apps: Record<string, App>
  orders: Record<string, Order>
  withdrawals: Record<string, Withdrawal>
  books: Record<Book, Money>
  keys: Record<string, string>
}

/** The initial state: two users with sign-up points, a free place, an administrator, and an app that the first user sells. */
export function initialState(price: bigint): State {
  const state: State = {
    now: 0,
    places: [
      { account: 'person 0', session: 'good', guesses: 0 },
      { account: 'person 1', session: 'good', guesses: 0 },
      { account: undefined, session: 'none', guesses: 0 },
    ],
    accounts: {},
    assets: {},
    apps: { first: { owner: 'person 0', price, isSold: true } },
    orders: {},
    withdrawals: {},
    books: { REVENUE: none, GAS: none, PROMOTION: none, DEPOSITS: none, FORFEITED: none, WITHDRAWALS: none },
    keys: {},
  }
  for (const name of ['person 0', 'person 1']) openAccount(state, name)
  openAccount(state, 'admin', 0n)
  return state
}

export function openAccount(state: State, name: string, points: bigint = terms.signUpPoints) {
  state.accounts[name] = { ...{ num: 0n, points }, ...{ isLocked: false, isDeleted: false, openOrders: 0 } }
  book(state, 'PROMOTION', { num: 0n, points: -points })
}

export function book({ books }: State, name: Book, amount: Money) {
  books[name] = plus(books[name], amount)
}

export const accountOf = ({ places }: State, who: Caller) => (typeof who === 'number' ? places[who]!.account : who)

export const hasAccount = (state: State, who: Caller) => {
  const name = accountOf(state, who)
  return name !== undefined && state.accounts[name]?.isDeleted === false
}

/** The same terms as settings of the service, with rate limits that do not interfere. */
export const modelEnv: Record<string, string> = {
  SIGN_UP_POINTS: decimal(terms.signUpPoints),
  ASSET_UPDATE_FEE: decimal(terms.fee),
  GAS_FEE: decimal(terms.gas),
  PLATFORM_SHARE: '0.12',
  WITHDRAWALS_PER_DAY: decimal(terms.withdrawnPerDay),
  LIMITS: `open-orders=${terms.openOrders},sign-up=100000000,sign-in=100000000,requests-per-address=100000000,requests-per-user=100000000`,
}
