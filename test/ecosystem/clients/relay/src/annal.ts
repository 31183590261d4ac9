import { createClient } from 'graphql-sse'
import {
  commitMutation,
  Environment,
  type FetchFunction,
  type GraphQLResponse,
  type MutationConfig,
  type MutationParameters,
  Network,
  Observable,
  RecordSource,
  Store,
  type SubscribeFunction,
  type UploadableMap,
} from 'relay-runtime'
import type { ErrorCode } from './__generated__/firstUploadQuoteQuery.graphql'

export interface Sender {
  /** Access token from `signIn`. */
  token?: string
  /** API key of a trusted service. Keep it on your server. */
  apiKey?: string
  /** Called when a subscription is connected or connected again. */
  onConnected?: () => void
}

// #region refusal
interface Extensions extends Record<string, unknown> {
  code: ErrorCode
}

/** An error of the server, identified by `extensions.code`. */
export class AnnalError extends Error {
  readonly extensions: Extensions

  constructor({ message, extensions }: { message: string; extensions: Extensions }) {
    super(message)
    this.extensions = extensions
  }
}
// #endregion

// #region upload
/** Builds a form of the GraphQL multipart request specification. Files are named by their paths, such as `input.assetFile`. */
function formOf(operations: string, files: UploadableMap): FormData {
  const form = new FormData()
  form.set('operations', operations)
  form.set('map', JSON.stringify(Object.fromEntries(Object.keys(files).map((path) => [path, [`variables.${path}`]]))))
  for (const [path, file] of Object.entries(files)) form.set(path, file)
  return form
}
// #endregion

// #region environment
/** Creates an environment. Use one per user, because its store contains what that user may see. */
export function createAnnal({ token, apiKey, onConnected }: Sender = {}): Environment {
  // A template that ends in "graphql" would start a document for Relay's compiler.
  const url = new URL('/graphql', process.env.ANNAL_URL ?? 'http://localhost:4000').href
  const sender = {
    ...(token && { Authorization: `token ${token}` }),
    ...(apiKey && { 'x-api-key': apiKey }),
  }

  const fetchOperation: FetchFunction = async ({ text, name }, variables, { metadata }, files) => {
    const operations = JSON.stringify({ query: text, operationName: name, variables })
    const idempotencyKey = metadata?.idempotencyKey
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        Accept: 'application/json',
        ...sender,
        ...(typeof idempotencyKey === 'string' && { 'Idempotency-Key': idempotencyKey }),
        ...(files ? { 'GraphQL-Require-Preflight': 'true' } : { 'Content-Type': 'application/json' }),
      },
      body: files ? formOf(operations, files) : operations,
    })
    const result = await answer.json()
    if (result.errors) throw new AnnalError(result.errors[0])
    return result
  }

  const sse = createClient({ url, headers: sender, on: { connected: () => onConnected?.() } })
  const subscribe: SubscribeFunction = ({ text, name }, variables) =>
    Observable.create((sink) =>
      sse.subscribe(
        { query: text!, operationName: name, variables },
        {
          next: (result) => sink.next(result as GraphQLResponse),
          error: (reason) => sink.error(reason instanceof Error ? reason : new Error(String(reason))),
          complete: () => sink.complete(),
        },
      ),
    )

  return new Environment({
    network: Network.create(fetchOperation, subscribe),
    store: new Store(new RecordSource()),
  })
}
// #endregion

// #region commit
/** Executes a mutation. Throws AnnalError. */
export const commit = <Mutation extends MutationParameters>(
  annal: Environment,
  config: Omit<MutationConfig<Mutation>, 'onCompleted' | 'onError'>,
) =>
  new Promise<Mutation['response']>((resolve, reject) => {
    commitMutation<Mutation>(annal, { ...config, onCompleted: (response) => resolve(response), onError: reject })
  })
// #endregion
