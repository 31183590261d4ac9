/** Calls each use case over REST and over GraphQL with the same input, and returns both results in one shape. */
import { type codeOf, expectError, expectOk } from './expect-error.ts'
import type { Answer } from './http-client.ts'
import type { SignedIn } from './test-app.ts'
import {
  camelKeys,
  graphqlRequest,
  type Input,
  readValue,
  restRequest,
  type Transport,
  type UseCaseName,
  useCases,
  type Value,
} from './use-cases.ts'

export type { Input } from './use-cases.ts'

/** A signed-in user, or the app itself for an anonymous caller. */
export type Caller = Pick<SignedIn, 'rest' | 'graphql'>

export type CallOptions = { headers?: Record<string, string> }

export interface Result extends Answer {
  /** Returns the value in the shape of GraphQL. Fails unless the request succeeded. */
  ok(): Value
  /** Fails unless the request was rejected with this code. Returns the field errors, named as in GraphQL. */
  fails(code: NonNullable<ReturnType<typeof codeOf>>): Value
}

export type Api = { name: Transport } & Record<
  UseCaseName,
  (caller: Caller, input?: Input, options?: CallOptions) => Promise<Result>
>

function resultOf(transport: Transport, name: UseCaseName, answer: Answer): Result {
  return Object.assign(answer, {
    ok() {
      expectOk(answer)
      return readValue(transport, name, answer)
    },
    fails(code: NonNullable<ReturnType<typeof codeOf>>) {
      const { body } = expectError(answer, code)
      return transport === 'REST' ? camelKeys(body.error.details) : body.errors[0].extensions.details
    },
  })
}

export const callerWith = ({ rest, graphql }: Caller, token: string): Caller => ({
  rest: (method, path, options) => rest(method, path, { ...options, actor: { token } }),
  graphql: (document, variables, options) => graphql(document, variables, { ...options, actor: { token } }),
})

const createApi = (transport: Transport): Api => {
  const call =
    (name: UseCaseName) =>
    async (caller: Caller, input: Input = {}, { headers = {} }: CallOptions = {}) => {
      if (transport === 'REST') {
        const { method, path, body } = restRequest(useCases[name], input)
        return resultOf(transport, name, await caller.rest(method, path, { ...body, headers }))
      }
      const { document, variables } = graphqlRequest(name, input)
      return resultOf(transport, name, await caller.graphql(document, variables, { headers }))
    }
  const names = Object.keys(useCases) as UseCaseName[]
  return { name: transport, ...Object.fromEntries(names.map((name) => [name, call(name)])) } as Api
}

export const restApi = createApi('REST')
export const graphqlApi = createApi('GraphQL')
/** Runs a suite once for each API: `describe.each(bothApis)('confirm an order over $name', (api) => …)`. */
export const bothApis: readonly Api[] = [restApi, graphqlApi]
