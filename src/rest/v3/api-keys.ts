import { defineRoute } from '../define-route.ts'
import type { ApiKeyRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'

/** What is read of an API key. */
export const ApiKeyRecord = graphql(/* GraphQL */ `
  fragment ApiKeyRecord on ApiKey {
    id
    name
    prefix
    createdAt
    revokedAt
  }
`)

const presentApiKey = ({ id, name, prefix, createdAt, revokedAt }: ApiKeyRecordFragment) => ({
  id,
  name,
  prefix,
  created_at: createdAt,
  revoked_at: revokedAt,
})

const issue = defineRoute({
  method: 'POST',
  path: 'store/api-keys',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestIssueApiKey($input: IssueApiKeyInput!) {
      issueApiKey(input: $input) {
        key
        apiKey {
          ...ApiKeyRecord
        }
      }
    }
  `),
  variables: ({ body }) => ({ input: { name: body.text('name') ?? '' } }),
  status: 201,
  present: ({ issueApiKey: { apiKey, key } }) => ({ ...presentApiKey(apiKey), key }),
})

const list = defineRoute({
  method: 'GET',
  path: 'store/api-keys',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    query RestApiKeys($limit: Int!, $offset: Int!) {
      apiKeys(first: $limit, offset: $offset) {
        totalCount
        nodes {
          ...ApiKeyRecord
        }
      }
    }
  `),
  variables: (request) => pageOf(request),
  present: ({ apiKeys }, request) => presentPage(request, apiKeys.totalCount, apiKeys.nodes.map(presentApiKey)),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: 'store/api-keys/:id',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {
      revokeApiKey(input: $input) {
        apiKey {
          id
        }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  status: 204,
  present: () => undefined,
})

/** API keys, for administrators. */
export const apiKeyRoutes = [issue, list, revoke]
