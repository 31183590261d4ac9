/** Compares responses and stored data with the model. */
import type { Names } from './deeds.ts'
import type { Real, Told } from './requests.ts'
import type { Observed, Scene } from './scene.ts'
import type { State } from './state.ts'
import type { Outcome } from './step.ts'
import { decimal, units } from './units.ts'

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
const plain = (value: unknown) => (isAmount(value) ? decimal(units(value)) : value)

export function differences(expected: Outcome, told: Told): string[] {
  if (expected.code !== told.code && !expected.or?.some((code) => code === told.code))
    return [`${told.code} was answered, and ${expected.code} is right`]
  const { shown: right = {} } = expected
  const { shown = {} } = told
  return Object.entries(shown)
    .filter(([name, value]) => name in right && plain(value) !== plain(right[name]))
    .map(([name, value]) => `${name} was told to be ${value}, and ${right[name]} is right`)
}

export function expectedOf(state: State): Observed {
  const { accounts, orders, assets } = state
  const each = <From, To>(list: Record<string, From>, to: (item: From) => To) =>
    Object.fromEntries(Object.entries(list).map(([name, item]) => [name, to(item)]))
  return {
    wallets: each(accounts, ({ num, points }) => ({ num: decimal(num), points: decimal(points) })),
    orders: each(orders, ({ status }) => status),
    commits: each(assets, ({ commits }) => commits),
  }
}

export function wrongIn(state: State, observed: Observed): string[] {
  const expected = expectedOf(state)
  const flat = (found: Observed) => ({
    ...Object.fromEntries(
      Object.entries(found.wallets).flatMap(([name, held]) => [
        [`num of ${name}`, plain(held.num)],
        [`points of ${name}`, plain(held.points)],
      ]),
    ),
    ...Object.fromEntries(Object.entries(found.orders).map(([name, status]) => [`order ${name}`, status])),
    ...Object.fromEntries(Object.entries(found.commits).map(([name, count]) => [`commits of file ${name}`, count])),
  })
  const [is, right] = [flat(observed) as Record<string, unknown>, flat(expected) as Record<string, unknown>]
  return [...new Set([...Object.keys(is), ...Object.keys(right)])]
    .filter((name) => is[name] !== right[name])
    .map((name) => `${name}: ${is[name]}, and ${right[name]} is right`)
}

const own = (state: State, account: string) => Object.entries(state.orders).filter(([, { buyer }]) => buyer === account)

const overview = `{ me { assetCount wallet { num points spendable } }
  orders(first: 50) { totalCount nodes { id status numPaid pointsPaid numRefunded pointsRefunded } }
  withdrawals(first: 50) { totalCount nodes { id status amount } }
  assets(first: 50) { totalCount nodes { id publicAccess caption commitCount } } }`

// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
type Row = any

async function lookFor(scene: Scene, who: number) {
  const get = async (path: string) => (await scene.get(who, `/api/v3/${path}`)).body
  const [me, orders, assets, withdrawals] = await Promise.all([
    get('auth/users/me/'),
    get('store/network-app-orders/?limit=50'),
    get('assets/?limit=50'),
    get('wallet/withdrawals/?limit=50'),
  ])
  const overRest = {
    funds: [plain(me.user_wallet.asset_wallet_num), plain(me.user_wallet.points)],
    orders: orders.results
      .map((row: Row) => [row.id, row.status, plain(row.num_paid), plain(row.points_paid)])
      .toSorted(),
    assets: assets.results.map((row: Row) => [row.id, row.public_access, row.caption]).toSorted(),
    withdrawals: withdrawals.results
      .map((row: Row) => [row.id, row.status.toUpperCase(), plain(row.amount)])
      .toSorted(),
  }
  const { data } = (await scene.graphql(who, overview)).body
  const overGraphQL = {
    funds: [plain(data.me.wallet.num), plain(data.me.wallet.points)],
    orders: data.orders.nodes
      .map((row: Row) => [row.id, inFour(row.status), plain(row.numPaid), plain(row.pointsPaid)])
      .toSorted(),
    assets: data.assets.nodes.map((row: Row) => [row.id, row.publicAccess, row.caption]).toSorted(),
    withdrawals: data.withdrawals.nodes.map((row: Row) => [row.id, row.status, plain(row.amount)]).toSorted(),
  }
  return {
    overRest,
    overGraphQL,
    refunds: data.orders.nodes
      .map((row: Row) => [row.id, row.status, plain(row.numRefunded), plain(row.pointsRefunded)])
      .toSorted(),
    counts: [data.me.assetCount, me.asset_count],
    commits: data.assets.nodes.map((row: Row) => [row.id, row.commitCount]).toSorted(),
  }
}

const inFour = (status: string) => (status === 'CREATED' || status === 'SUCCESS' ? status.toLowerCase() : 'failure')

function wrongFor(state: State, real: Real, who: number, told: Awaited<ReturnType<typeof lookFor>>): string[] {
  const name = state.places[who]!.account!
  const funds = state.accounts[name]!
  const assets = Object.entries(state.assets).filter(([, { owner }]) => owner === name)
  const right = {
    funds: [decimal(funds.num), decimal(funds.points)],
    orders: own(state, name)
      .map(([id, { status, paid }]) => [real.order(id), inFour(status), decimal(paid.num), decimal(paid.points)])
      .toSorted(),
    assets: assets.map(([file, { isPublic, caption }]) => [real.nid(file), isPublic, caption]).toSorted(),
    withdrawals: Object.entries(state.withdrawals)
      .filter(([, { owner }]) => owner === name)
      .map(([id, { status, amount }]) => [real.withdrawal(id), status, decimal(amount)])
      .toSorted(),
  }
  const refunds = own(state, name)
    .map(([id, { status, refunded: given }]) => [real.order(id), status, decimal(given.num), decimal(given.points)])
    .toSorted()
  const commits = assets.map(([file, { commits }]) => [real.nid(file), commits]).toSorted()
  const compare = (what: string, is: unknown, should: unknown) =>
    JSON.stringify(is) === JSON.stringify(should)
      ? []
      : [`place ${who}, ${what}: ${JSON.stringify(is)}, and ${JSON.stringify(should)} is right`]
  return [
    ...compare('REST', told.overRest, right),
    ...compare('GraphQL', told.overGraphQL, right),
    ...compare('refunds', told.refunds, refunds),
    ...compare('count of assets', told.counts, [assets.length, assets.length]),
    ...compare('commits', told.commits, commits),
  ]
}

type Looker = 'anonymous' | number

async function lookAtFile(scene: Scene, file: string, who: Looker) {
  const { status } = await scene.get(who, `/api/v3/assets/${scene.real.nid(file)}/`)
  const { body } = await scene.graphql(who, `{ asset(id: "${scene.real.nid(file)}") { caption } }`)
  return { file, who, status, body }
}

function wrongSight(
  state: State,
  { file, who, status, body }: Awaited<ReturnType<typeof lookAtFile>>,
): string | undefined {
  const asset = state.assets[file]
  const account = typeof who === 'number' ? state.places[who]!.account : undefined
  const isSeen = asset !== undefined && (asset.isPublic || asset.owner === account)
  if ((status === 200) === isSeen && (body.errors === undefined) === isSeen) return undefined
  return `File ${file} is ${isSeen ? 'to be seen' : 'hidden'} for ${who}: REST says ${status}, GraphQL ${JSON.stringify(body)}`
}

/** Reads the final state: ledger, wallets, orders, commits, and the assets that each caller sees over both APIs. */
export async function lookAtEnd(states: readonly State[], { assets }: Names, scene: Scene) {
  // All possible states have the same sessions.
  const isIn = (who: number) => states.every(({ places }) => places[who]!.session === 'good')
  const own: { who: number; told: Awaited<ReturnType<typeof lookFor>> }[] = []
  for (const who of [0, 1, 2].filter(isIn)) own.push({ who, told: await lookFor(scene, who) })
  const sights: Awaited<ReturnType<typeof lookAtFile>>[] = []
  const lookers: Looker[] = ['anonymous', ...[0, 1].filter(isIn)]
  for (const file of assets) for (const who of lookers) sights.push(await lookAtFile(scene, file, who))
  return { real: scene.real, observed: await scene.observe(), books: await scene.books(), own, sights }
}

export function wrongAtEnd(state: State, seen: Awaited<ReturnType<typeof lookAtEnd>>): string[] {
  const books = Object.fromEntries(
    seen.books.map(({ book, currency, amount }) => [`${book} ${currency}`, signed(amount)]),
  )
  const rightBooks = Object.fromEntries(
    Object.entries(state.books)
      .flatMap(([book, { num, points }]) => [
        [`${book} NUM`, decimal(num)],
        [`${book} POINTS`, decimal(points)],
      ])
      .filter(([, amount]) => amount !== '0'),
  )
  const names = [...new Set([...Object.keys(books), ...Object.keys(rightBooks)])]
  const wrongBooks = names
    .filter((name) => books[name] !== rightBooks[name])
    .map((name) => `The book ${name} has ${books[name]}, and ${rightBooks[name]} is right`)
  return [
    ...wrongIn(state, seen.observed),
    ...wrongBooks,
    ...seen.own.flatMap(({ who, told }) => wrongFor(state, seen.real, who, told)),
    ...seen.sights.flatMap((sight) => wrongSight(state, sight) ?? []),
  ]
}

const signed = (amount: string) => (amount.startsWith('-') ? decimal(-units(amount.slice(1))) : decimal(units(amount)))
