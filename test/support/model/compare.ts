/** Holds what was answered and what is there to what the model says. */
import type { Told } from './doors.ts'
import type { Observed, Scene } from './scene.ts'
import { type Place, type State, spendable } from './state.ts'
import type { Outcome } from './step.ts'
import { decimal, units } from './units.ts'

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
/** Amounts are the same with and without needless zeros. */
const plain = (value: unknown) => (isAmount(value) ? decimal(units(value)) : value)

/** What differs, in words; none when nothing does. Only what both tell is compared. */
export function differences(expected: Outcome, told: Told): string[] {
  if (expected.code !== told.code && expected.or !== told.code)
    return [`${told.code} was answered, and ${expected.code} is right`]
  const { shown: right = {} } = expected
  const { shown = {} } = told
  return Object.entries(shown)
    .filter(([name, value]) => name in right && plain(value) !== plain(right[name]))
    .map(([name, value]) => `${name} was told to be ${value}, and ${right[name]} is right`)
}

/** What a state looks like in the database. */
export function expectedOf(state: State): Observed {
  const { accounts, orders, assets } = state
  const each = <From, To>(list: Record<string, From>, to: (item: From) => To) =>
    Object.fromEntries(Object.entries(list).map(([name, item]) => [name, to(item)]))
  return {
    wallets: each(accounts, ({ num, points }) => ({ num: decimal(num), points: decimal(points) })),
    orders: each(orders, ({ status }) => status),
    commits: each(assets, ({ commits }) => commits),
    grants: Object.fromEntries(
      Object.values(accounts).flatMap(({ grants }) => grants.map(({ name, remaining }) => [name, decimal(remaining)])),
    ),
  }
}

/** What of the service is not as the model has it; empty: all is. */
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
    ...Object.fromEntries(Object.entries(found.grants).map(([name, left]) => [`left of grant ${name}`, plain(left)])),
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

/** Everything that somebody who is signed in sees of their own, at both doors. */
async function wrongFor(state: State, scene: Scene, who: number, { account: name }: Place): Promise<string[]> {
  const account = state.accounts[name!]!
  const funds = spendable(state, account)
  const assets = Object.entries(state.assets).filter(([, { owner }]) => owner === name)
  const seen = (status: string) => (status === 'CREATED' || status === 'SUCCESS' ? status.toLowerCase() : 'failure')
  const right = {
    funds: [decimal(funds.num), decimal(funds.points)],
    orders: own(state, name!)
      .map(([id, { status, paid }]) => [scene.real.order(id), seen(status), decimal(paid.num), decimal(paid.points)])
      .toSorted(),
    assets: assets.map(([file, { isPublic, caption }]) => [scene.real.nid(file), isPublic, caption]).toSorted(),
    withdrawals: Object.entries(state.withdrawals)
      .filter(([, { owner }]) => owner === name)
      .map(([id, { status, amount }]) => [scene.real.withdrawal(id), status, decimal(amount)])
      .toSorted(),
  }
  const get = async (path: string) => (await scene.get(who, `/api/v3/${path}`)).body
  const [me, orders, own1, withdrawals] = await Promise.all([
    get('auth/users/me/'),
    get('store/network-app-orders/?limit=50'),
    get('assets/?limit=50'),
    get('wallet/withdrawals/?limit=50'),
  ])
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  type Row = any
  const overRest = {
    funds: [plain(me.user_wallet.asset_wallet_num), plain(me.user_wallet.points)],
    orders: orders.results
      .map((row: Row) => [row.id, row.status, plain(row.num_paid), plain(row.points_paid)])
      .toSorted(),
    assets: own1.results.map((row: Row) => [row.id, row.public_access, row.caption]).toSorted(),
    withdrawals: withdrawals.results
      .map((row: Row) => [row.id, row.status.toUpperCase(), plain(row.amount)])
      .toSorted(),
  }
  const { data } = (await scene.graphql(who, overview)).body
  const overGraphQL = {
    funds: [plain(data.me.wallet.num), plain(data.me.wallet.points)],
    orders: data.orders.nodes
      .map((row: Row) => [row.id, seen(row.status), plain(row.numPaid), plain(row.pointsPaid)])
      .toSorted(),
    assets: data.assets.nodes.map((row: Row) => [row.id, row.publicAccess, row.caption]).toSorted(),
    withdrawals: data.withdrawals.nodes.map((row: Row) => [row.id, row.status, plain(row.amount)]).toSorted(),
  }
  const refunded = data.orders.nodes
    .map((row: Row) => [row.id, row.status, plain(row.numRefunded), plain(row.pointsRefunded)])
    .toSorted()
  const rightRefunds = own(state, name!)
    .map(([id, { status, refunded: given }]) => [
      scene.real.order(id),
      status,
      decimal(given.num),
      decimal(given.points),
    ])
    .toSorted()
  const counts = [data.me.assetCount, me.asset_count, assets.length]
  const commits = data.assets.nodes.map((row: Row) => [row.id, row.commitCount]).toSorted()
  const rightCommits = assets.map(([file, { commits }]) => [scene.real.nid(file), commits]).toSorted()
  const compare = (what: string, is: unknown, should: unknown) =>
    JSON.stringify(is) === JSON.stringify(should)
      ? []
      : [`place ${who}, ${what}: ${JSON.stringify(is)}, and ${JSON.stringify(should)} is right`]
  return [
    ...compare('REST', overRest, right),
    ...compare('GraphQL', overGraphQL, right),
    ...compare('refunds', refunded, rightRefunds),
    ...compare('count of assets', counts.slice(0, 2), [assets.length, assets.length]),
    ...compare('commits', commits, rightCommits),
  ]
}

/** Who sees which asset: everybody, at one door each. */
async function wrongSight(state: State, scene: Scene): Promise<string[]> {
  const wrong: string[] = []
  for (const file of state.names.assets) {
    const asset = state.assets[file]
    for (const who of ['anonymous', 0, 1] as const) {
      const place = typeof who === 'number' ? state.places[who]! : undefined
      if (place && place.session !== 'good') continue
      const isSeen = asset !== undefined && (asset.isPublic || asset.owner === place?.account)
      const { status } = await scene.get(who, `/api/v3/assets/${scene.real.nid(file)}/`)
      const { body } = await scene.graphql(who, `{ asset(id: "${scene.real.nid(file)}") { caption } }`)
      if ((status === 200) !== isSeen || (body.errors === undefined) !== isSeen)
        wrong.push(
          `File ${file} is ${isSeen ? 'to be seen' : 'hidden'} for ${who}: REST says ${status}, GraphQL ${JSON.stringify(body)}`,
        )
    }
  }
  return wrong
}

/** The whole state at the end: books, wallets, orders, commits, and what each sees at both doors. */
export async function wrongAtEnd(state: State, scene: Scene): Promise<string[]> {
  const books = Object.fromEntries(
    (await scene.books()).map(({ book, currency, amount }) => [`${book} ${currency}`, signed(amount)]),
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
  const wrong = [...wrongIn(state, await scene.observe()), ...wrongBooks]
  for (const [who, place] of state.places.entries()) {
    if (place.session === 'good') wrong.push(...(await wrongFor(state, scene, who, place)))
  }
  return [...wrong, ...(await wrongSight(state, scene))]
}

const signed = (amount: string) => (amount.startsWith('-') ? decimal(-units(amount.slice(1))) : decimal(units(amount)))
