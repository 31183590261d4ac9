/** The most expensive requests that the limits allow: each list with the maximum page size and the largest rows. */

import { type GraphQLSchema, getOperationAST, parse } from 'graphql'
import { createCostOf } from '../../src/graphql/execute.ts'
import { answerLimits } from '../../src/graphql/limits/document-cost.ts'
import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'
import { schema } from '../../test/support/full-api.ts'

export interface Ask {
  name: string
  as: 'anybody' | 'owner' | 'administrator'
  /** A GraphQL document, or a path below `/api/v3/`. */
  document?: string
  path?: string
  /** True if the service may reject the request as too large. */
  mayRefuse?: boolean
}

/** Maximum page size of any list. */
export const MOST = 1_000

/** Returns the largest page size for which the document is within the cost limits. */
export function largestPage(document: (page: number) => string, costOf = createCostOf(schema)): number {
  const isLetIn = (page: number) => {
    const parsed = parse(document(page))
    try {
      const { values, bytes } = costOf(parsed, getOperationAST(parsed)!, {})
      return values <= answerLimits.values && bytes <= answerLimits.bytes
    } catch {
      return false
    }
  }
  let [fits, refused] = [0, MOST + 1]
  while (refused - fits > 1) {
    const middle = (fits + refused) >> 1
    if (isLetIn(middle)) fits = middle
    else refused = middle
  }
  if (fits === 0) throw new Error(`Not even a page of one is let in: ${document(1)}`)
  return fits
}
const largest = (document: (page: number) => string, costOf?: ReturnType<typeof createCostOf>) =>
  document(largestPage(document, costOf))

const metadataTexts = Object.entries<MetadataField>({ ...metadataFields, ...registrationFields })
  .filter(([, { kind }]) => kind !== 'flag')
  .map(([name]) => name)
const texts = `id assetFileName ${metadataTexts.join(' ')} nitCommitCustom`

export function dearest(rows: number, longHistory: string): Ask[] {
  const open = (name: string, document: (page: number) => string): Ask => ({
    name,
    as: 'anybody',
    document: largest(document),
  })
  const own = (name: string, document: (page: number) => string): Ask => ({ ...open(name, document), as: 'owner' })
  const deep = rows - MOST
  const rest = (path: string, as: Ask['as']): Ask => ({
    name: `${as === 'owner' ? 'own ' : ''}${path.replace(longHistory, '…')}`,
    as,
    path,
  })
  return [
    open('texts of assets', (n) => `{ assets(first: ${n}) { nodes { ${texts} } } }`),
    open('captions', (n) => `{ assets(first: ${n}) { nodes { caption } } }`),
    open('identifiers', (n) => `{ assets(first: ${n}, offset: 10000) { nodes { id nid headId } } }`),
    open('changes of a history', (n) => `{ asset(id: "${longHistory}") { history(limit: ${n}) { changes } } }`),
    open(
      'changes of commits',
      (n) => `{ asset(id: "${longHistory}") { commits(first: ${Math.min(n, 100)}) { nodes { changes } } } }`,
    ),
    open(
      'history, far in',
      (n) => `{ asset(id: "${longHistory}") { history(limit: ${n}, offset: ${deep}) { id message treeCid status } } }`,
    ),
    open(
      'commits of assets',
      (n) => `{ assets(first: ${n}) { nodes { id commits(first: 3) { nodes { id message changes } } } } }`,
    ),
    open(
      'assets of owners of assets',
      (n) =>
        `{ assets(first: 5) { nodes { owner { assets(first: ${Math.min(n, 100)}) { nodes { caption meta } } } } } }`,
    ),
    open(
      'by tag',
      (n) => `{ assets(first: ${n}, offset: 10000, filter: { tag: "even" }) { totalCount nodes { id } } }`,
    ),
    open('counts', () => `{ ${Array.from({ length: 15 }, (_, i) => `a${i}: assets { totalCount }`).join(' ')} }`),
    own('me and assets', (n) => `{ me { id assets(first: ${Math.min(n, 100)}) { totalCount nodes { ${texts} } } } }`),
    own('own assets, far in', (n) => `{ assets(first: ${n}, offset: ${deep}) { totalCount nodes { id caption } } }`),
    own('orders', (n) => `{ orders(first: ${n}) { totalCount nodes { id actionArgs } } }`),
    own(
      'transfers',
      (n) =>
        `{ transfers(first: ${n}, offset: ${deep}) { totalCount nodes { id num points balance { num points } } } }`,
    ),
    own('events', (n) => `{ events(first: ${n}) { nodes { id type createdAt } } }`),
    own(
      'audit trail',
      (n) => `{ auditEntries(first: ${n}, offset: ${deep}) { totalCount nodes { id action address } } }`,
    ),
    own('sessions', (n) => `{ sessions(first: ${n}, offset: ${deep}) { totalCount nodes { id name } } }`),
    { ...own('everything of mine', () => '{ myData }'), mayRefuse: true },
    rest('assets/?limit=1000', 'anybody'),
    rest('assets/?limit=1000&offset=10000', 'anybody'),
    rest('assets/?limit=1000&offset=10000&tag=even', 'anybody'),
    rest(`assets/?proof_hash=${'0'.repeat(64)}`, 'anybody'),
    rest(`assets/${longHistory}/history/?limit=1000`, 'anybody'),
    rest(`history/?nid=${longHistory}&limit=1000&offset=${deep}`, 'anybody'),
    rest('assets/?limit=1000', 'owner'),
    rest(`assets/?limit=1000&offset=${deep}`, 'owner'),
    rest('store/network-app-orders/?limit=1000', 'owner'),
    rest(`store/network-app-orders/?limit=1000&offset=${deep}`, 'owner'),
    rest(`wallet/transfers/?limit=1000&offset=${deep}`, 'owner'),
    rest('events/?limit=1000', 'owner'),
    rest(`auth/users/me/audit-entries/?limit=1000&offset=${deep}`, 'owner'),
    rest(`auth/sessions/?limit=1000&offset=${deep}`, 'owner'),
  ]
}

/** Returns the schema without the sizes of texts and lists, for a control. */
export function withoutSizes(real: GraphQLSchema): string {
  const forgetful = Object.create(real) as GraphQLSchema
  const plain = (field: ReturnType<GraphQLSchema['getField']>) =>
    field && Object.assign(Object.create(field), { extensions: { size: { items: 10, bytes: 0 } } })
  forgetful.getField = (parent, name) => plain(real.getField(parent, name))
  return largest(
    (n) => `{ assets(first: ${Math.min(Math.max(n, 1), 100)}) { nodes { ${texts} } } }`,
    createCostOf(forgetful),
  )
}
