/** Requests every field and every route as every kind of caller, and checks the outcomes. */
import type { GraphQLSchema } from 'graphql'
import { LARGE_ANSWER } from '../../src/graphql/limits/document-cost.ts'
import type { DirectRoute, Route } from '../../src/http/rest/define-route.ts'
import { fromId } from '../../src/shared/ids.ts'
import type { Credentials } from '../../test/support/http-client.ts'
import { createJudge, type Judge } from './authz-answers.ts'
import { createPageOf, PAGE, type RootCall, selectionsOf } from './authz-documents.ts'
import { askGraphQL, askPage, askRest, type Told } from './authz-doors.ts'
import type { Expectations } from './authz-expectations.ts'
import { type Expected, type Kind, kinds, type Outcome } from './authz-kinds.ts'
import { pageCalls } from './authz-pages.ts'
import type { Scene } from './authz-scene.ts'
import type { State } from './authz-state.ts'
import { streamRoute, subscribeAll } from './authz-streams.ts'
import { type Asked, restCallOf } from './authz-values.ts'

export interface Finding {
  /**
   * Kind of problem. `allow`: a request succeeded without permission. `told`: a response contained another user's secret or object.
   * `touched`: a forbidden write happened. `other`: the error differs from the expected one, or was unexpected.
   */
  kind: 'allow' | 'told' | 'touched' | 'other'
  text: string
}

/** A route as the service serves it. */
export interface ServedRoute {
  /** Key in the table of expectations. */
  key: string
  method: string
  path: string
  isDry: boolean
  /** True for admin pages, which have their own session. */
  isAdminPage: boolean
  /** Key of the request data. A dry-run route uses that of the real route. */
  callKey: string
}

export interface MatrixParts {
  url: string
  schema: GraphQLSchema
  scene: Scene
  state: State
  expectations: Expectations
  calls: readonly RootCall[]
  routes: readonly ServedRoute[]
}

export interface MatrixOptions {
  /** Kinds of callers. Defaults to all. */
  kinds?: readonly Kind[]
  /** Depth of nested objects in a GraphQL query. */
  depth: number
  /** Returns true for the keys to include. */
  only?: (key: string) => boolean
  /** Stops at the first finding for which this returns true. */
  until?: (finding: Finding) => boolean
}

export interface MatrixResult {
  /** Number of tested combinations of a field or route and a caller. */
  cells: number
  requests: number
  findings: Finding[]
  judge: Judge
}

/** Reads that write an entry to the audit log. */
const leavesTrace = new Set(['Query.myData', 'GET /api/v3/auth/users/me/export', 'GET /auth/users/me/export'])

/** Returns all routes at both families of paths. Old clients use `auth/…` without the prefix. */
export function servedRoutes(
  routes: readonly Route[],
  directRoutes: readonly DirectRoute[],
  adminPages: readonly { method: string; path: string }[],
): ServedRoute[] {
  const operations = routes.flatMap(({ method, path, quote, isQuote = false }) => {
    const key = `${method} ${path}`
    const dry = `${key}?dry_run=true`
    const paths = path.startsWith('auth/') ? [`/api/v3/${path}/`, `/${path}/`] : [`/api/v3/${path}/`]
    return paths.flatMap((served): ServedRoute[] => [
      { key, method, path: served, isDry: isQuote, isAdminPage: false, callKey: key },
      ...(quote ? [{ key: dry, method, path: served, isDry: true, isAdminPage: false, callKey: key }] : []),
    ])
  })
  const whole =
    (isAdminPage: boolean) =>
    ({ method, path }: { method: string; path: string }): ServedRoute => {
      const key = `${method} ${path}`
      return { key, method, path, isDry: false, isAdminPage, callKey: key }
    }
  return [...operations, ...directRoutes.map(whole(false)), ...adminPages.map(whole(true))]
}

export async function runMatrix(parts: MatrixParts, options: MatrixOptions): Promise<MatrixResult> {
  const { url, schema, scene, state, expectations, calls, routes } = parts
  const { only = () => true, depth, until: isEnough = () => false } = options
  const { owner } = scene.people
  const pageOf = createPageOf(schema)
  const judge = createJudge(schema, scene, expectations)
  const findings: Finding[] = []
  const result = { cells: 0, requests: 0, findings, judge }
  let serial = 0

  const askedBy = (kind: Kind): Asked => {
    serial += 1
    return { scene, owner, actor: kind === 'anonymous' ? undefined : scene.people[kind], serial }
  }
  const credentialsOf = (kind: Kind): Credentials => ({
    token: kind === 'anonymous' ? undefined : scene.people[kind].token,
    apiKey: scene.apiKey,
  })
  const note = (kind: Finding['kind'], text: string) => void findings.push({ kind, text })

  const ownersUuids = [...scene.belongings]
    .filter(([, name]) => name === 'owner')
    .map(([id]) => fromId(id)?.uuid)
    .concat([owner.uuid, fromId(owner.appId)?.uuid, fromId(owner.deliveryId)?.uuid])
    .filter((uuid) => uuid !== undefined)

  function judgeOutcome(key: string, kind: Kind, expected: Outcome, told: Told): void {
    const { outcome, sent, text } = told
    if (outcome !== expected) {
      const what = `${key} by ${kind}: ${outcome} instead of ${expected}; ${sent.slice(0, 300)} → ${text.slice(0, 300)}`
      note(outcome === 'allow' ? 'allow' : 'other', what)
    }
    for (const found of judge.wordsIn(kind, sent, text)) note('told', `${key}: ${found}; ${sent.slice(0, 300)}`)
  }

  /** Checks that a request changed only what it may change, and restores the state. */
  async function judgeState(key: string, kind: Kind, mayWrite: boolean): Promise<void> {
    const changes = await state.changes()
    const told = (list: typeof changes) =>
      list.map(({ table, kind: how, row }) => `${how} in ${table}: ${row.slice(0, 200)}`).join('; ')
    if (!mayWrite && changes.length) note('touched', `${key} by ${kind} wrote: ${told(changes)}`)
    const isTheirBusiness = kind === 'admin' && expectations.administration.includes(key)
    if (mayWrite && kind !== 'owner' && !isTheirBusiness) {
      const theirs = changes.filter(({ row }) => ownersUuids.some((uuid) => row.includes(uuid)))
      if (theirs.length) note('touched', `${key} by ${kind} changed what is the owner’s: ${told(theirs)}`)
    }
    await state.restore(changes)
  }

  async function runCall(call: RootCall): Promise<void> {
    const expected = expectations.fields[call.key]
    if (!expected) return
    const isFragment = /^Query\.(node|quote)\(/.test(call.key)
    const fits = (selection: string) => pageOf(call.document(selection), [PAGE]) !== undefined
    // One document is wide and shallow, others are deep and narrow, because of the cost limits.
    const wide = selectionsOf(call.type, { depth: 1, maxFields: 200, isFragment, fits }).map((text) => ({
      text,
      page: pageOf(call.document(text), [50, 15]) ?? PAGE,
    }))
    const deep = selectionsOf(call.type, { depth, maxFields: 50, isFragment, fits }).map((text) => ({
      text,
      page: PAGE,
    }))
    // A mutation is executed only once.
    const once = () =>
      selectionsOf(call.type, { depth: 2, maxFields: 500, isFragment }).map((text) => ({ text, page: PAGE }))
    const selections = call.operation === 'mutation' ? once() : [...wide, ...deep]
    if (call.operation === 'mutation' && selections.length > 1)
      note('other', `${call.key} does not fit into one document.`)
    for (const kind of options.kinds ?? kinds) {
      result.cells += 1
      for (const { text, page } of selections) {
        const variables = call.variables(askedBy(kind), page)
        const told = await askGraphQL(url, credentialsOf(kind), {
          query: call.document(text),
          variables,
          field: call.field,
        })
        result.requests += 1
        judgeOutcome(call.key, kind, expected[kind], told)
        for (const found of judge.objectsIn(kind, call.type, told.value))
          note('told', `${call.key}: ${found}; ${told.sent.slice(0, 300)}`)
      }
      const isWriting = call.operation === 'mutation' || leavesTrace.has(call.key)
      await judgeState(call.key, kind, isWriting && expected[kind] === 'allow')
    }
  }

  async function runSubscription(call: RootCall): Promise<void> {
    const expected = expectations.fields[call.key]
    if (!expected) return
    const fits = (selection: string) => pageOf(call.document(selection), [PAGE], LARGE_ANSWER) !== undefined
    for (const selection of selectionsOf(call.type, { depth: 2, maxFields: 200, isFragment: false, fits })) {
      await runStreams(call, expected, selection)
      await state.restore(await state.changes())
    }
  }

  async function runStreams(call: RootCall, expected: Expected, selection: string): Promise<void> {
    const asking = options.kinds ?? kinds
    const streams = await subscribeAll(url, call, {
      asking: asking.map((kind) => ({
        kind,
        isAllowed: expected[kind] === 'allow',
        credentials: credentialsOf(kind),
        body: { query: call.document(selection), variables: call.variables(askedBy(kind)) },
      })),
      owner,
    })
    for (const { kind, told } of streams) {
      result.cells += 1
      result.requests += 1
      judgeOutcome(call.key, kind, expected[kind], told)
      for (const found of judge.objectsIn(kind, call.type, told.value)) note('told', `${call.key}: ${found}`)
    }
  }

  async function runRoute(route: ServedRoute): Promise<void> {
    const expected = expectations.routes[route.key]
    const callOf = route.isAdminPage ? pageCalls[route.callKey] : restCallOf(route.callKey)
    if (!expected || !callOf) return
    for (const kind of options.kinds ?? kinds) {
      result.cells += 1
      for (const call of [callOf(askedBy(kind))].flat()) {
        const query = route.isDry ? { ...call.query, dry_run: 'true' } : call.query
        const request = { method: route.method, path: route.path, call: query ? { ...call, query } : call }
        const told = await (route.isAdminPage
          ? askPage(url, scene.pageKeysOf(kind), request)
          : route.path.endsWith('/stream')
            ? streamRoute(url, credentialsOf(kind), request)
            : askRest(url, credentialsOf(kind), request))
        result.requests += 1
        judgeOutcome(route.key, kind, expected[kind], told)
      }
      const isWriting = (route.method !== 'GET' && !route.isDry) || leavesTrace.has(route.key)
      await judgeState(route.key, kind, isWriting && expected[kind] === 'allow')
    }
  }

  const steps = [
    ...calls.map((call) => ({
      key: call.key,
      run: () => (call.operation === 'subscription' ? runSubscription(call) : runCall(call)),
    })),
    ...routes.map((route) => ({ key: route.key, run: () => runRoute(route) })),
  ]
  for (const { key, run } of steps) {
    if (!only(key)) continue
    await run()
    if (findings.some(isEnough)) break
  }
  return result
}
