import type { ApiKey } from '../../db/prisma/client.ts'
import { builder } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/payload-selection.ts'
import { characters, pageOf } from '../../graphql/limits/sizes.ts'
import {
  assertCursors,
  offsetArg,
  searchArg,
  totalCountDescription,
  totalCountOf,
  withOffset,
} from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'

/** `ApiKey`, for administrators alone. */
export const ApiKeyType = builder.prismaObject('ApiKey', {
  description: 'The record of a key by which a trusted service is known. Administrators only.',
  interfaces: [Node],
  select: { id: true, name: true, prefix: true, createdAt: true, revokedAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `key_01h2x…`.', resolve: ({ id }) => toId('key', id) }),
    name: t.string({ ...characters(100), description: 'Which service it is for.', resolve: ({ name }) => name }),
    prefix: t.string({
      ...characters(8),
      description: 'The first 8 characters of the key.',
      resolve: ({ prefix }) => prefix,
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was issued.', resolve: ({ createdAt }) => createdAt }),
    revokedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is not valid any more.',
      resolve: ({ revokedAt }) => revokedAt,
    }),
  }),
})

const ApiKeyConnection = builder.connectionObject(
  {
    type: ApiKeyType,
    name: 'ApiKeyConnection',
    description: 'A page of API keys.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'ApiKeyEdge', description: 'An API key with its cursor.' },
)

const IssueApiKeyInput = builder.inputType('IssueApiKeyInput', {
  description: 'Who gets a key.',
  fields: (t) => ({ name: t.string({ required: true, description: 'Which service it is for, 1 to 100 characters.' }) }),
})

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'The key to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the key.' }) }),
})

const apiKeyField = {
  type: ApiKeyType,
  description: 'The record of the key.',
  resolve: ({ apiKey }: { apiKey: ApiKey }) => apiKey,
} as const

const IssueApiKeyPayload = builder.objectRef<{ apiKey: ApiKey; key: string }>('IssueApiKeyPayload').implement({
  description: 'The new key.',
  fields: (t) => ({
    apiKey: t.field(apiKeyField),
    key: t.exposeString('key', {
      ...characters(64),
      description: 'The key, seen only now: services send it as `x-api-key`.',
    }),
  }),
})

const RevokeApiKeyPayload = builder.objectRef<{ apiKey: ApiKey }>('RevokeApiKeyPayload').implement({
  description: 'The key that is not valid any more.',
  fields: (t) => ({ apiKey: t.field(apiKeyField) }),
})

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryField('apiKeys', (t) =>
  t.prismaConnection(
    {
      type: ApiKeyType,
      cursor: 'id',
      ...pageOf(1000),
      description: `All API keys, also revoked ones, newest first. ${adminOnly}.`,
      args: {
        search: searchArg(t, 'the name or the prefix'),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { search }, { actor, services }) => services.apiKeys.count(actor, search),
      resolve: (query, _root, { search, offset, ...page }, { actor, services }) => {
        assertCursors('id', page)
        return services.apiKeys.list(actor, search, withOffset(query, offset))
      },
    },
    ApiKeyConnection,
  ),
)

builder.mutationFields((t) => ({
  issueApiKey: t.field({
    type: IssueApiKeyPayload,
    description: `Makes a key for a trusted service. ${adminOnly}, VALIDATION_FAILED.`,
    args: { input: t.arg({ type: IssueApiKeyInput, required: true, description: 'Who gets it.' }) },
    resolve: showing('apiKey', async (query, { input }, { actor, services, idempotency }) => {
      const { id, key } = await services.apiKeys.issue(actor, input, idempotency)
      return { apiKey: await services.apiKeys.get(actor, toId('key', id), query()), key }
    }),
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    description: `Ends a key: the next request that carries it is not trusted. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: RevokeApiKeyInput, required: true, description: 'The key.' }) },
    resolve: showing('apiKey', async (query, { input }, { actor, services, idempotency }) => {
      const id = await services.apiKeys.revoke(actor, input.id, idempotency)
      return { apiKey: await services.apiKeys.get(actor, toId('key', id), query()) }
    }),
  }),
}))
