/** Clients that follow a subscription by server-sent events, as their manuals say. */
import { ApolloClient, ApolloLink, gql, InMemoryCache, Observable } from '@apollo/client'
import { buildHTTPExecutor } from '@graphql-tools/executor-http'
import { parse, print } from 'graphql'
import { createClient } from 'graphql-sse'
import { type Endpoint, headersOf } from './endpoint.ts'

export interface Subscriber {
  name: string
  follow(endpoint: Endpoint, query: string, variables: Record<string, unknown>): AsyncIterable<unknown>
}

interface Result {
  data?: unknown
  errors?: readonly { message: string }[] | undefined
}

function dataOf({ data, errors }: Result): unknown {
  if (errors) throw new Error(errors.map(({ message }) => message).join('; '))
  return data
}

async function* bySse(endpoint: Endpoint, query: string, variables: Record<string, unknown>) {
  const client = createClient({ url: endpoint.url, headers: headersOf(endpoint), retryAttempts: 0 })
  try {
    for await (const result of client.iterate({ query, variables })) yield dataOf(result)
  } finally {
    client.dispose()
  }
}

function createSseLink(endpoint: Endpoint): ApolloLink {
  const client = createClient({ url: endpoint.url, headers: headersOf(endpoint), retryAttempts: 0 })
  return new ApolloLink(
    (operation) =>
      new Observable((sink) =>
        client.subscribe<Record<string, unknown>>(
          { ...operation, query: print(operation.query), extensions: undefined },
          {
            next: (value) => sink.next(value as ApolloLink.Result),
            complete: () => sink.complete(),
            error: (reason) => sink.error(reason),
          },
        ),
      ),
  )
}

async function* byApollo(endpoint: Endpoint, query: string, variables: Record<string, unknown>) {
  const client = new ApolloClient({ link: createSseLink(endpoint), cache: new InMemoryCache() })
  const results: Result[] = []
  let wake = () => {}
  let failure: unknown
  const subscription = client.subscribe({ query: gql(query), variables }).subscribe({
    next: ({ data, error }) => {
      if (error) failure = error
      else results.push({ data })
      wake()
    },
    error: (reason) => {
      failure = reason
      wake()
    },
  })
  try {
    for (;;) {
      const result = results.shift()
      if (result) yield dataOf(result)
      else if (failure) throw failure
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  } finally {
    subscription.unsubscribe()
    client.stop()
  }
}

async function* byTheExecutor(endpoint: Endpoint, query: string, variables: Record<string, unknown>) {
  const execute = buildHTTPExecutor({ endpoint: endpoint.url, headers: headersOf(endpoint) })
  const results = await execute({ document: parse(query), variables })
  if (!(Symbol.asyncIterator in results)) throw new Error(`No stream: ${JSON.stringify(results)}`)
  for await (const result of results) yield dataOf(result)
}

export const subscribers: Subscriber[] = [
  { name: 'graphql-sse', follow: bySse },
  { name: 'Apollo over graphql-sse', follow: byApollo },
  { name: 'the executor of graphql-tools', follow: byTheExecutor },
]

export const commitUpdated = 'subscription ($nid: ID!) { commitUpdated(nid: $nid) { sequence } }'

const CHANGES = 3
const MOST_UNHEARD = 200

export async function followChanges({
  follow,
  endpoint,
  nid,
  change,
}: {
  follow: Subscriber['follow']
  endpoint: Endpoint
  nid: string
  change(n: number): Promise<void>
}): Promise<number[]> {
  const stream = follow(endpoint, commitUpdated, { nid })[Symbol.asyncIterator]()
  const told: number[] = []
  let failure: unknown
  const hear = async () => {
    const { value, done } = await stream.next()
    if (done) throw new Error('The stream ended.')
    told.push((value as { commitUpdated: { sequence: number } }).commitUpdated.sequence)
  }
  const first = hear().catch((error: unknown) => {
    failure = error
  })
  let made = 0
  // A client does not say when it is connected.
  while (told.length === 0 && !failure && made < MOST_UNHEARD) await change(++made)
  await first
  if (failure) throw failure
  for (let more = 0; more < CHANGES; more += 1) await change(++made)
  // Registration is the first commit.
  while (told.at(-1)! < made + 1) await hear()
  await stream.return?.()
  return told
}
