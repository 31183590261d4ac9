/** Whether a file is registered. */
import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageQuery, pageRecord } from '../page-record.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { assetRecord, presentAsset } from './present-asset.ts'

const lookUp = defineRoute({
  method: 'GET',
  path: 'lookup',
  operationId: 'lookUpFile',
  tag: 'Assets',
  summary: 'Ask whether a file is registered',
  description:
    'Every asset of the file that one may see, oldest first. Give its SHA-256 or its CID; the file stays where it is. An empty list proves nothing: a file that differs by one byte is another file, and what is private is found by its owner alone.',
  query: pageQuery({
    sha256: z.string().optional().describe('SHA-256 of the file, 64 hexadecimal digits.'),
    cid: z.string().optional().describe('CID of the file.'),
  }),
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestLookup($sha256: String, $cid: String, $limit: Int!, $offset: Int!) {
      lookup(sha256: $sha256, cid: $cid, first: $limit, offset: $offset) {
        totalCount
        nodes {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({
    sha256: request.query.get('sha256') || undefined,
    cid: request.query.get('cid') || undefined,
    ...pageOf(request),
  }),
  answer: pageRecord('Registrations', assetRecord),
  present: ({ lookup }, request) => presentPage(request, lookup.totalCount, lookup.nodes.map(presentAsset)),
})

/** Whether a file is registered. */
export const lookupRoutes = [lookUp]
