/** Where bodies are sent to: every route, door and form that reads one, and what shows that each was reached. */
import { routes } from '../../src/rest/routes.ts'
import type { RawAnswer } from '../../test/support/raw-http.ts'
import { adminPages, directRoutes } from '../../test/support/route-tables.ts'

export interface Target {
  method: string
  path: string
  /** What somebody without an account is answered before a body is read; undefined where the target is open to everybody. */
  refusal?: number
}

const UNAUTHENTICATED = 401
/** To the sign-in. */
const LED_AWAY = 303

/** What is no request gets this answer wherever it was sent. */
const NO_REQUEST = /not valid HTTP/
/** Stands for whatever a path names. */
const SAMPLE = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4'
const OPEN = new Set(['account:create', 'asset:read', 'email:verify', 'password:reset', 'session:create'])

const filled = (path: string) => path.replaceAll(/:\w+/g, SAMPLE)
const hasBody = ({ method }: { method: string }) => method !== 'GET'

/** Every route that has a body, both spellings of the GraphQL door, and the forms of pages. */
export const targets: readonly Target[] = [
  ...routes.filter(hasBody).map(({ method, path, action }) => ({
    method,
    path: `/api/v3/${filled(path)}/`,
    ...(!OPEN.has(action) && { refusal: UNAUTHENTICATED }),
  })),
  { method: 'POST', path: '/graphql' },
  { method: 'POST', path: '/graphql/' },
  ...directRoutes.filter(hasBody).map(({ method, path }) => ({ method, path: filled(path) })),
  ...adminPages.filter(hasBody).map(({ method, path }) => ({
    method,
    path: filled(path),
    ...(path !== '/admin/sign-in' && { refusal: LED_AWAY }),
  })),
]

export const nameOf = ({ method, path }: Target) => `${method} ${path.replaceAll(SAMPLE, '…')}`
export const isPage = ({ path }: Target) => !path.startsWith('/api/') && !path.startsWith('/graphql')

interface Reach {
  sent: number
  /** Answers by what stands at the address, to nobody in particular and to somebody whom it knows. */
  byNobody: number
  bySomebody: number
}

/** Whether an answer comes from what stands at an address, and not from the parser of HTTP or from nowhere. */
const isReached = ({ status, body }: RawAnswer) => ![0, 404, 405].includes(status) && !NO_REQUEST.test(body)

/** Counts for each target what was sent to it, and what came of that. */
export function countReach(of: readonly Target[]) {
  const reach = new Map<Target, Reach>(of.map((target) => [target, { sent: 0, byNobody: 0, bySomebody: 0 }]))
  return {
    count(target: Target, answer: RawAnswer, isSignedIn: boolean) {
      const counts = reach.get(target)!
      counts.sent += 1
      if (!isReached(answer)) return
      if (!isSignedIn) counts.byNobody += 1
      else if (answer.status !== target.refusal) counts.bySomebody += 1
    },
    /** The least that was sent to one. */
    least: () => Math.min(...[...reach.values()].map(({ sent }) => sent)),
    /** A sentence for each that was never reached in one of the two ways. */
    unreached: () =>
      [...reach].flatMap(([target, { sent, byNobody, bySomebody }]) => {
        const missing = [...(byNobody ? [] : ['a stranger']), ...(bySomebody ? [] : ['somebody who is signed in'])]
        return missing.map((who) => `${nameOf(target)} was never reached by ${who}, in ${sent} bodies.`)
      }),
  }
}
