import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { get } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { orderByFrom } from '../../http/rest/pagination.ts'
import { queryFlag } from '../../http/rest/rest-handler.ts'
import { sameFields } from '../../http/rest/values.ts'
import { asset, presentAsset } from './assets.rest.ts'

/** Returns an e-mail address from the query string. Clients do not escape `+`, so it arrives as a space. */
const addressIn = (query: URLSearchParams, name: string) => query.get(name)?.trim().replaceAll(' ', '+') || undefined

const searched = 'the headline, the caption, the file name or the tag'

const list = defineList({
  ...get('assets', 'listAssets', 'Assets', 'List assets'),
  description:
    'Newest first. Lists your own assets when you are signed in, and public assets otherwise. `owner` lists the assets of a user that you may see.',
  filters: {
    ...sameFields('AssetFilter', { owner: z.string().optional(), proof_hash: z.string().optional() }),
    ...sameFields('AssetFilter', { tag: z.string().optional(), is_original_owner: z.boolean().optional() }),
    owner_service_name: z.string().optional().describe('Matches no asset. Annal does not record names of services.'),
  },
  action: 'asset:read',
  record: asset.schema,
  plural: 'Assets',
  searched,
  order: 'newest',
  cursorLinks: 'far',
  isEmpty: (query) => Boolean(query.get('owner_service_name')),
  operation: graphql(/* GraphQL */ `
    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {
      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {
        totalCount pageInfo { startCursor endCursor } nodes { ...AssetRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({
    ...part,
    orderBy: orderByFrom(query),
    filter: {
      owner: addressIn(query, 'owner'),
      proofHash: query.get('proof_hash') || undefined,
      tag: query.get('tag') || undefined,
      isOriginalOwner: queryFlag(query, 'is_original_owner'),
    },
  }),
  present: presentAsset,
})

const lookUp = defineList({
  ...get('lookup', 'lookUpFile', 'Assets', 'Find the registrations of a file'),
  description:
    'Lists the assets of a file that you may see, oldest first. Send its SHA-256 or its CID. An empty list proves nothing: a file that differs by one byte is a different file, and only the owner finds a private asset.',
  filters: {
    sha256: z.string().optional().describe('SHA-256 of the file, 64 hexadecimal digits.'),
    cid: z
      .string()
      .optional()
      .describe('The CID of the file. Any multibase, version 0, `ipfs://…` and URLs of gateways are accepted.'),
  },
  action: 'asset:read',
  record: asset.schema,
  plural: 'Registrations',
  searched,
  order: 'oldest',
  operation: graphql(/* GraphQL */ `
    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {
      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {
        totalCount pageInfo { startCursor endCursor } nodes { ...AssetRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({
    ...{ sha256: query.get('sha256') || undefined, cid: query.get('cid') || undefined },
    ...part,
    orderBy: orderByFrom(query),
  }),
  present: presentAsset,
})

export const assetListRoutes = [list, lookUp]
