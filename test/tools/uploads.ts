/** Clients that send a file as the GraphQL multipart request specification says. */
import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { buildHTTPExecutor } from '@graphql-tools/executor-http'
// @ts-expect-error: its types are comments.
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs'
import { parse } from 'graphql'
import { type Endpoint, headersOf } from './endpoint.ts'

export interface Uploader {
  name: string
  upload(endpoint: Endpoint, file: File): Promise<string>
}

const mutation = `mutation ($file: Upload!) {
  registerAsset(input: { assetFile: $file, caption: "By a client" }) { asset { id assetFileName } }
}`

interface Registered {
  registerAsset: { asset: { id: string; assetFileName: string } }
}

export const uploaders: Uploader[] = [
  {
    name: 'apollo-upload-client',
    async upload(endpoint, file) {
      // The header is what both manuals demand of a server that is safe from forged requests.
      const headers = { ...headersOf(endpoint), 'Apollo-Require-Preflight': 'true' }
      const link = new UploadHttpLink({ uri: endpoint.url, headers })
      const client = new ApolloClient({ link, cache: new InMemoryCache() })
      const { data } = await client.mutate<Registered>({ mutation: gql(mutation), variables: { file } })
      client.stop()
      return data!.registerAsset.asset.id
    },
  },
  {
    name: 'the executor of graphql-tools',
    async upload(endpoint, file) {
      const headers = { ...headersOf(endpoint), 'GraphQL-Require-Preflight': 'true' }
      const execute = buildHTTPExecutor({ endpoint: endpoint.url, headers })
      const result = await execute<Registered>({ document: parse(mutation), variables: { file } })
      if (!('data' in result) || !result.data) throw new Error(JSON.stringify(result))
      return result.data.registerAsset.asset.id
    },
  },
]
