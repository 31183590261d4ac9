import {
  builder,
  optionalTime,
  type PayloadFields,
  payloadType,
  publicId,
  shortText,
  showingChange,
  time,
} from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, idInputType, listResolvers, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { apiKeyReader, issueApiKey, revokeApiKey } from './api-keys.ts'

const ApiKeyType = builder.prismaObject('ApiKey', {
  description: 'An API key of a trusted service, without the secret. Only administrators can read API keys.',
  interfaces: [Node],
  select: { id: true, name: true, prefix: true, createdAt: true, revokedAt: true },
  fields: (t) => ({
    id: t.field(publicId('key', 'id', 'Identifier, as in `key_01h2x…`.')),
    name: t.exposeString('name', shortText(100, 'Name of the service that uses the key.')),
    prefix: t.exposeString('prefix', shortText(8, 'The first 8 characters of the key.')),
    createdAt: t.expose('createdAt', time('Time of creation.')),
    revokedAt: t.expose('revokedAt', optionalTime('Time of the revocation. Null while the key is valid.')),
  }),
})

const ApiKeyConnection = connectionOf(ApiKeyType, 'ApiKey', ['an API key', 'API keys'])

const IssueApiKeyInput = builder.inputType('IssueApiKeyInput', {
  description: 'The key to create.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the service that uses the key, 1 to 100 characters.' }),
  }),
})

const RevokeApiKeyInput = idInputType('RevokeApiKeyInput', 'The API key to revoke.', 'Identifier of the API key.')

const apiKeyField = ['apiKey', ApiKeyType, 'The API key, without the secret.'] as const
const RevokeApiKeyPayload = payloadType('RevokeApiKeyPayload', 'The revoked API key.', apiKeyField)
const IssueApiKeyPayload = payloadType(
  'IssueApiKeyPayload',
  'The new API key.',
  apiKeyField,
  (t: PayloadFields<{ key: string }>) => ({
    key: t.exposeString(
      'key',
      shortText(64, 'The secret API key. The key is never shown again. Services send the key as `x-api-key`.'),
    ),
  }),
)

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryField('apiKeys', (t) =>
  t.prismaConnection(
    {
      type: ApiKeyType,
      cursor: 'id',
      ...pageOf(1000),
      description: `All API keys, including revoked keys, newest first. Only for administrators. ${adminOnly}.`,
      args: { search: searchArg(t, 'the name or the prefix'), offset: offsetArg(t) },
      ...listResolvers(apiKeyReader.list, apiKeyReader.count),
    },
    ApiKeyConnection,
  ),
)

builder.mutationFields((t) => ({
  issueApiKey: t.field({
    type: IssueApiKeyPayload,
    description: `Creates an API key for a trusted service. Only for administrators. ${adminOnly}, VALIDATION_FAILED.`,
    args: { input: t.arg({ type: IssueApiKeyInput, required: true, description: 'The API key to create.' }) },
    resolve: showingChange('apiKey', apiKeyReader, issueApiKey),
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    description: `Revokes an API key. Requests with the key are no longer trusted. Only for administrators. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: RevokeApiKeyInput, required: true, description: 'The API key to revoke.' }) },
    resolve: showingChange('apiKey', apiKeyReader, revokeApiKey),
  }),
}))
