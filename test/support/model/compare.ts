import type { Names } from './operations.ts'
import type { Real, Result } from './requests.ts'
import type { Observed, Scene } from './scene.ts'
import type { State } from './state.ts'
import type { Outcome } from './step.ts'
import { decimal, units } from './units.ts'

const isAmount = (value: unknown): value is string => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
const signed = (amount: string) => (amount.startsWith('-') ? -units(amount.slice(1)) : units(amount))
const plain = (value: unknown) => (isAmount(value) ? decimal(signed(value)) : value)

function compare(what: string, actual: unknown, expected: unknown): string[] {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  return is === should ? [] : [`${what} is ${is} instead of ${should}`]
}

function compareEntries(actual: Record<string, unknown>, expected: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  return [...names].flatMap((name) => compare(name, plain(actual[name]), plain(expected[name])))
}

export function differences(expected: Outcome, { code, shown = {} }: Result): string[] {
  if (expected.code !== code && !expected.or?.some((other) => other === code))
    return compare('code', code, expected.code)
  const predicted = Object.entries(shown).filter(([name]) => name in (expected.shown ?? {}))
  return predicted.flatMap(([name, value]) => compare(name, plain(value), plain(expected.shown![name])))
}

export function stateDifferences({ accounts, orders, assets }: State, observed: Observed): string[] {
  const prefixed = <Item, Value>(prefix: string, items: Record<string, Item>, read: (item: Item) => Value) =>
    Object.fromEntries(Object.entries(items).map(([name, item]) => [`${prefix} ${name}`, read(item)]))
  return [
    ...compareEntries(
      prefixed('num of', observed.wallets, ({ num }) => num),
      prefixed('num of', accounts, ({ num }) => decimal(num)),
    ),
    ...compareEntries(
      prefixed('points of', observed.wallets, ({ points }) => points),
      prefixed('points of', accounts, ({ points }) => decimal(points)),
    ),
    ...compareEntries(
      prefixed('order', observed.orders, (status) => status),
      prefixed('order', orders, ({ status }) => status),
    ),
    ...compareEntries(
      prefixed('commits of file', observed.commits, (count) => count),
      prefixed('commits of file', assets, ({ commits }) => commits),
    ),
  ]
}

const overview = `{ me { assetCount wallet { num points spendable } }
  orders(first: 50) { totalCount nodes { id status numPaid pointsPaid numRefunded pointsRefunded } }
  withdrawals(first: 50) { totalCount nodes { id status amount } }
  assets(first: 50) { totalCount nodes { id publicAccess caption commitCount } } }`

// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
type Row = any

const rowsOf = (list: Row[], read: (row: Row) => unknown[]) => list.map((row) => read(row).map(plain)).toSorted()
/** REST has one status for all orders that failed. */
const restStatus = (status: string) => (status === 'CREATED' || status === 'SUCCESS' ? status.toLowerCase() : 'failure')

async function readOwnData(scene: Scene, who: number) {
  const get = async (path: string) => (await scene.get(who, `/api/v3/${path}`)).body
  const [me, orders, assets, withdrawals] = await Promise.all([
    get('auth/users/me/'),
    get('store/network-app-orders/?limit=50'),
    get('assets/?limit=50'),
    get('wallet/withdrawals/?limit=50'),
  ])
  const { data } = (await scene.graphql(who, overview)).body
  return {
    overRest: {
      funds: [plain(me.user_wallet.asset_wallet_num), plain(me.user_wallet.points)],
      orders: rowsOf(orders.results, (row) => [row.id, row.status, row.num_paid, row.points_paid]),
      assets: rowsOf(assets.results, (row) => [row.id, row.public_access, row.caption]),
      withdrawals: rowsOf(withdrawals.results, (row) => [row.id, row.status.toUpperCase(), row.amount]),
    },
    overGraphQL: {
      funds: [plain(data.me.wallet.num), plain(data.me.wallet.points)],
      orders: rowsOf(data.orders.nodes, (row) => [row.id, restStatus(row.status), row.numPaid, row.pointsPaid]),
      assets: rowsOf(data.assets.nodes, (row) => [row.id, row.publicAccess, row.caption]),
      withdrawals: rowsOf(data.withdrawals.nodes, (row) => [row.id, row.status, row.amount]),
    },
    refunds: rowsOf(data.orders.nodes, (row) => [row.id, row.status, row.numRefunded, row.pointsRefunded]),
    counts: [data.me.assetCount, me.asset_count],
    commits: rowsOf(data.assets.nodes, (row) => [row.id, row.commitCount]),
  }
}

function expectedOwnData(state: State, real: Real, name: string): Awaited<ReturnType<typeof readOwnData>> {
  const { num, points } = state.accounts[name]!
  const assets = Object.entries(state.assets).filter(([, { owner }]) => owner === name)
  const orders = Object.entries(state.orders).filter(([, { buyer }]) => buyer === name)
  const withdrawals = Object.entries(state.withdrawals).filter(([, { owner }]) => owner === name)
  const overview = {
    funds: [decimal(num), decimal(points)],
    orders: rowsOf(orders, ([id, { status, paid }]) => [
      ...[real.order(id), restStatus(status), decimal(paid.num), decimal(paid.points)],
    ]),
    assets: rowsOf(assets, ([file, { isPublic, caption }]) => [real.nid(file), isPublic, caption]),
    withdrawals: rowsOf(withdrawals, ([id, { status, amount }]) => [real.withdrawal(id), status, decimal(amount)]),
  }
  return {
    ...{ overRest: overview, overGraphQL: overview },
    refunds: rowsOf(orders, ([id, { status, refunded }]) => [
      ...[real.order(id), status, decimal(refunded.num), decimal(refunded.points)],
    ]),
    counts: [assets.length, assets.length],
    commits: rowsOf(assets, ([file, { commits }]) => [real.nid(file), commits]),
  }
}

type Viewer = 'anonymous' | number

async function readVisibility(scene: Scene, file: string, who: Viewer) {
  const { status } = await scene.get(who, `/api/v3/assets/${scene.real.nid(file)}/`)
  const { body } = await scene.graphql(who, `{ asset(id: "${scene.real.nid(file)}") { caption } }`)
  return { file, who, isVisible: [status === 200, body.errors === undefined] }
}

function isVisible({ assets, places }: State, file: string, who: Viewer): boolean {
  const asset = assets[file]
  return asset !== undefined && (asset.isPublic || (typeof who === 'number' && asset.owner === places[who]!.account))
}

/** Reads the final state: ledger, wallets, orders, commits, and the assets that each caller sees over both APIs. */
export async function readFinalState(states: readonly State[], { assets }: Names, scene: Scene) {
  // All possible states have the same sessions.
  const hasSession = (who: number) => states.every(({ places }) => places[who]!.session === 'good')
  const own: { who: number; data: Awaited<ReturnType<typeof readOwnData>> }[] = []
  for (const who of [0, 1, 2].filter(hasSession)) own.push({ who, data: await readOwnData(scene, who) })
  const visibility: Awaited<ReturnType<typeof readVisibility>>[] = []
  const viewers: Viewer[] = ['anonymous', ...[0, 1].filter(hasSession)]
  for (const file of assets) for (const who of viewers) visibility.push(await readVisibility(scene, file, who))
  return { real: scene.real, observed: await scene.observe(), books: await scene.books(), own, visibility }
}

export function finalDifferences(state: State, final: Awaited<ReturnType<typeof readFinalState>>): string[] {
  const books = Object.fromEntries(final.books.map(({ book, currency, amount }) => [`${book} ${currency}`, amount]))
  const expectedBooks = Object.entries(state.books)
    .flatMap(([book, { num, points }]) => [
      [`${book} NUM`, decimal(num)] as const,
      [`${book} POINTS`, decimal(points)] as const,
    ])
    .filter(([, amount]) => amount !== '0')
  return [
    ...stateDifferences(state, final.observed),
    ...compareEntries(books, Object.fromEntries(expectedBooks)),
    ...final.own.flatMap(({ who, data }) => {
      const expected = expectedOwnData(state, final.real, state.places[who]!.account!)
      return compare(`data of place ${who}`, data, expected)
    }),
    ...final.visibility.flatMap(({ file, who, isVisible: actual }) => {
      const expected = isVisible(state, file, who)
      return compare(`visibility of file ${file} for ${who}`, actual, [expected, expected])
    }),
  ]
}
