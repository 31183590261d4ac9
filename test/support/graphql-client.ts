import { globalAgent } from 'node:http'
import { type Answer, type Message, send } from './http-client.ts'
import type { TestActor } from './user.ts'

export type GraphQLOptions = { actor?: TestActor | undefined; headers?: Record<string, string> }

/** `body.data` and `body.errors` are unchanged. A file among the variables is sent as a GraphQL multipart request. */
export type GraphQL = (document: string, variables?: object, options?: GraphQLOptions) => Promise<Answer>

/** Builds a request as JSON, or as a form if a variable contains a file. */
export function graphqlMessage(query: string, variables: object): Pick<Message, 'json' | 'multipart' | 'headers'> {
  const files: [path: string, file: File][] = []
  const setAside = (value: unknown, path: string): unknown => {
    if (value instanceof File) {
      files.push([path, value])
      return null
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, setAside(inner, `${path}.${name}`)]))
  }
  const operations = { query, variables: setAside(variables, 'variables') }
  if (files.length === 0) return { json: operations }
  const form = new FormData()
  form.set('operations', JSON.stringify(operations))
  form.set('map', JSON.stringify(Object.fromEntries(files.map(([path], index) => [index, [path]]))))
  for (const [index, [, file]] of files.entries()) form.set(String(index), file)
  return { multipart: form, headers: { 'GraphQL-Require-Preflight': 'true' } }
}

export const createGraphQL =
  (url: string, defaults: Pick<GraphQLOptions, 'actor'> = {}): GraphQL =>
  (query, variables = {}, { actor = defaults.actor, headers = {} } = {}) => {
    const { headers: needed, ...body } = graphqlMessage(query, variables)
    const message = {
      ...body,
      token: actor?.token,
      headers: { Accept: 'application/json', ...needed, ...headers },
      name: `${query.trim()} ${JSON.stringify(variables)}`,
    }
    return send(`${url}/graphql`, message, { agent: globalAgent })
  }
