import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { apiKeyParam, moment, neededText, nothing, same, snakeCased } from '../../http/rest/values.ts'

/** The GraphQL fields that the REST record of an API key needs. */
export const ApiKeyRecord = graphql(/* GraphQL */ `
  fragment ApiKeyRecord on ApiKey {
    id name prefix createdAt revokedAt
  }
`)

const apiKeyRecord = z
  .object({
    id: same('ApiKey.id', z.string()),
    name: same('ApiKey.name', z.string()),
    prefix: same('ApiKey.prefix', z.string()),
    created_at: same('ApiKey.createdAt', moment),
    revoked_at: same('ApiKey.revokedAt', moment.nullable()),
  })
  .meta({ id: 'ApiKey', description: 'A key of a trusted service, without its secret.' })

const newApiKeyRecord = apiKeyRecord
  .extend({ key: same('IssueApiKeyPayload.key', z.string()) })
  .meta({ id: 'ApiKeyWithSecret', description: 'An API key with its secret, which is never shown again.' })

const issue = defineRoute({
  method: 'POST',
  path: 'store/api-keys',
  operationId: 'issueApiKey',
  tag: 'Store',
  summary: 'Issue an API key',
  description: 'Only this response shows the key.',
  errors: ['IDEMPOTENCY_KEY_REUSED'],
  body: z
    .object({ name: same('IssueApiKeyInput.name', neededText(100)) })
    .meta({ id: 'IssueApiKey', description: 'The trusted service that gets the key.' }),
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestIssueApiKey($input: IssueApiKeyInput!) {
      issueApiKey(input: $input) { key apiKey { ...ApiKeyRecord } }
    }
  `),
  variables: ({ body }) => ({ input: { name: body.text('name') ?? '' } }),
  status: 201,
  answer: newApiKeyRecord,
  present: ({ issueApiKey: { apiKey, key } }) => ({ ...snakeCased(apiKey), key }),
})

const list = defineList({
  path: 'store/api-keys',
  operationId: 'listApiKeys',
  tag: 'Store',
  summary: 'List API keys, newest first',
  action: 'store:administer',
  record: apiKeyRecord,
  plural: 'ApiKeys',
  searched: 'the name or the prefix',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo { startCursor endCursor }
        nodes { ...ApiKeyRecord }
      }
    }
  `),
  present: snakeCased,
})

const revoke = defineRoute({
  method: 'DELETE',
  path: 'store/api-keys/:id',
  operationId: 'revokeApiKey',
  tag: 'Store',
  summary: 'Revoke an API key',
  params: apiKeyParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {
      revokeApiKey(input: $input) { apiKey { id } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

/** Routes of API keys, for administrators. */
export const apiKeyRoutes = [issue, list, revoke]
