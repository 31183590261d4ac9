import { z } from 'zod'
import { defineCommand, defineRoute, del, get, post } from '../../http/rest/define-route.ts'
import { apiKeyParam, neededText, objectOf, same, sameFields, snakeCased, time } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'

export const ApiKeyRecord = graphql(/* GraphQL */ `
  fragment ApiKeyRecord on ApiKey {
    id name prefix createdAt revokedAt
  }
`)

const apiKeyRecord = objectOf('ApiKey', 'An API key of a trusted service, without the secret.', {
  ...sameFields('ApiKey', { id: z.string(), name: z.string(), prefix: z.string(), created_at: time }),
  ...sameFields('ApiKey', { revoked_at: time.nullable() }),
})

const newApiKeyRecord = apiKeyRecord
  .extend({ key: same('IssueApiKeyPayload.key', z.string()) })
  .meta({ id: 'ApiKeyWithSecret', description: 'An API key with its secret, which is never shown again.' })

const issue = defineRoute({
  ...post('store/api-keys', 'issueApiKey', 'Store', 'Issue an API key'),
  description: 'The API key is shown only in this response.',
  errors: ['IDEMPOTENCY_KEY_REUSED'],
  body: objectOf('IssueApiKey', 'The trusted service that gets the key.', {
    name: same('IssueApiKeyInput.name', neededText(100)),
  }),
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
  ...get('store/api-keys', 'listApiKeys', 'Store', 'List API keys, newest first'),
  action: 'store:administer',
  record: apiKeyRecord,
  plural: 'ApiKeys',
  searched: 'the name or the prefix',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor } nodes { ...ApiKeyRecord }
      }
    }
  `),
  present: snakeCased,
})

const revoke = defineCommand({
  ...del('store/api-keys/:id', 'revokeApiKey', 'Store', 'Revoke an API key'),
  params: apiKeyParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { id } } }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

export const apiKeyRoutes = [issue, list, revoke]
