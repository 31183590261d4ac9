/** Whether a file is registered. */
import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { orderByFrom } from '../../http/rest/pagination.ts'
import { assetRecord, presentAsset } from './present-asset.ts'

const lookUp = defineList({
  path: 'lookup',
  operationId: 'lookUpFile',
  tag: 'Assets',
  summary: 'Ask whether a file is registered',
  description:
    'Every asset of the file that one may see, oldest first. Give its SHA-256 or its CID; the file stays where it is. An empty list proves nothing: a file that differs by one byte is another file, and what is private is found by its owner alone.',
  filters: {
    sha256: z.string().optional().describe('SHA-256 of the file, 64 hexadecimal digits.'),
    cid: z
      .string()
      .optional()
      .describe('The CID of the file. Any multibase, version 0, `ipfs://…` and URLs of gateways are accepted.'),
  },
  action: 'asset:read',
  record: assetRecord,
  plural: 'Registrations',
  searched: 'the headline, the caption, the file name or the tag',
  order: 'oldest',
  operation: graphql(/* GraphQL */ `
    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {
      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          ...AssetRecord
        }
      }
    }
  `),
  variables: ({ query }, part) => ({
    sha256: query.get('sha256') || undefined,
    cid: query.get('cid') || undefined,
    ...part,
    orderBy: orderByFrom(query),
  }),
  connectionOf: ({ lookup }) => lookup,
  present: presentAsset,
})

/** Whether a file is registered. */
export const lookupRoutes = [lookUp]
