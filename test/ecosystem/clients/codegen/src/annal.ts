import { createClient } from 'graphql-sse'
import type { ErrorCode, TypedDocumentString } from './gql/graphql.ts'

const url = `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`

/** Credentials and options of a request. */
export interface Sender {
  /** Access token from `signIn`. */
  token?: string
  /** API key of a trusted service. Keep it on your server. */
  apiKey?: string
  /** Requests with the same key are executed once. */
  idempotencyKey?: string
}

const headersOf = ({ token, apiKey, idempotencyKey }: Sender): Record<string, string> => ({
  Accept: 'application/json',
  ...(token && { Authorization: `token ${token}` }),
  ...(apiKey && { 'x-api-key': apiKey }),
  ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
})

// #region refusal
interface GraphQLError {
  message: string
  extensions: { code: ErrorCode } & Record<string, unknown>
}

/** An error of the server, identified by `code`. */
export class AnnalError extends Error {
  readonly code: ErrorCode
  readonly extensions: GraphQLError['extensions']

  constructor({ message, extensions }: GraphQLError) {
    super(message)
    this.code = extensions.code
    this.extensions = extensions
  }
}
// #endregion

/** Replaces files in variables by null. Returns the variables, and the files by their paths. */
function extractFiles(variables: object) {
  const files = new Map<string, File>()
  const walk = (value: unknown, path: string): unknown => {
    if (value instanceof File) {
      files.set(path, value)
      return null
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${path}.${index}`))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, `${path}.${name}`)]))
  }
  return { variables: walk(variables, 'variables'), files }
}

/** Builds a form of the GraphQL multipart request specification. */
function formOf(operations: string, files: Map<string, File>): FormData {
  const form = new FormData()
  form.set('operations', operations)
  form.set('map', JSON.stringify(Object.fromEntries([...files.keys()].map((path, index) => [index, [path]]))))
  for (const [index, file] of [...files.values()].entries()) form.set(String(index), file)
  return form
}

/** Executes an operation. Throws AnnalError. */
export async function request<Data, Variables extends object>(
  document: TypedDocumentString<Data, Variables>,
  input: Variables,
  sender: Sender = {},
): Promise<Data> {
  const { variables, files } = extractFiles(input)
  const operations = JSON.stringify({ query: document.toString(), variables })
  const hasFiles = files.size > 0
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      ...headersOf(sender),
      ...(hasFiles ? { 'GraphQL-Require-Preflight': 'true' } : { 'Content-Type': 'application/json' }),
    },
    body: hasFiles ? formOf(operations, files) : operations,
  })
  const { data, errors } = (await answer.json()) as { data: Data; errors?: [GraphQLError] }
  if (errors) throw new AnnalError(errors[0])
  return data
}

// #region follow
/** Yields the events of a subscription until the caller leaves the loop. Throws AnnalError. */
export async function* follow<Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  { onConnected, ...sender }: Sender & { onConnected?: () => void } = {},
): AsyncGenerator<Data> {
  const client = createClient({ url, headers: headersOf(sender), on: { connected: () => onConnected?.() } })
  try {
    for await (const { data, errors } of client.iterate<Data>({ query: document.toString(), variables })) {
      if (errors) throw new AnnalError(errors[0] as unknown as GraphQLError)
      if (data) yield data
    }
  } finally {
    client.dispose()
  }
}
// #endregion
