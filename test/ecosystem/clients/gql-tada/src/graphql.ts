import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './graphql-env.d.ts'

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: {
    Address: string
    CID: string
    DateTime: string
    Decimal: string
    JSONObject: Record<string, unknown>
    Upload: File
  }
}>()

export type ErrorCode = ReturnType<typeof graphql.scalar<'ErrorCode'>>
