/** Clients that name a document by its hash, and send it when the server does not know it. */
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { hashOf } from '../../src/graphql/trusted-documents.ts'
import { type Endpoint, headersOf } from './endpoint.ts'

export interface SentQuery {
  method: string
  hasDocument: boolean
}

export async function askTwiceByApollo(endpoint: Endpoint, query: string, useGETForHashedQueries: boolean) {
  const sent: SentQuery[] = []
  const watched: typeof fetch = (url, init) => {
    const params = init?.body ? String(init.body) : decodeURIComponent(String(url))
    sent.push({ method: init?.method ?? 'GET', hasDocument: params.includes('me {') })
    return fetch(url, init)
  }
  const link = ApolloLink.from([
    new PersistedQueryLink({ sha256: hashOf, useGETForHashedQueries }),
    new HttpLink({ uri: endpoint.url, headers: headersOf(endpoint), fetch: watched }),
  ])
  const client = new ApolloClient({ link, cache: new InMemoryCache() })
  const ask = () => client.query({ query: gql(query), fetchPolicy: 'no-cache' })
  await ask()
  const { data } = await ask()
  client.stop()
  return { data, sent }
}
