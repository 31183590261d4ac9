/** Links from the answer that names a thing to what can be done with it: generators of requests and readers follow them. */
import type { z } from 'zod'
import type { Route } from '../rest/define-route.ts'

const MADE = '$response.body#/id'
const LISTED = '$response.body#/results/0/id'

const has = (answer: z.ZodType, field: string) => 'shape' in answer && field in (answer.shape as object)

/** Where the answer of a route names a thing of its list, as a runtime expression of OpenAPI; undefined where it names none. */
function nameIn({ method, answer, status = 200 }: Route): string | undefined {
  if (method === 'POST' && status === 201 && has(answer, 'id')) return MADE
  return method === 'GET' && has(answer, 'results') ? LISTED : undefined
}

/** The parameter by which a route asks for a thing of the list at `path`. */
const parameterBelow = (path: string, route: Route) =>
  route.path.startsWith(`${path}/:`) ? /^:(\w+)/.exec(route.path.slice(path.length + 1))?.[1] : undefined

/** The `links` of a route's answer; undefined when it leads nowhere. */
export function linksOf(route: Route, routes: readonly Route[]): Record<string, object> | undefined {
  const name = nameIn(route)
  const links = routes.flatMap((other) => {
    const parameter = name && parameterBelow(route.path, other)
    const { operationId, summary } = other
    return parameter
      ? [[operationId, { operationId, parameters: { [parameter]: name }, description: `${summary}.` }]]
      : []
  })
  return links.length > 0 ? Object.fromEntries(links) : undefined
}
