/** Read arguments by their special property. */
import type { ReadClient } from '../../../src/db/database-types.ts'
import { Prisma } from '../../../src/db/prisma/client.ts'
import { assetId as a, commitId, tokenHash, userId as u } from './read-seed.ts'

export type Target = [model: keyof ReadClient, method: string, args?: unknown]

const byId = { orderBy: { id: 'asc' } }
const id = { id: true }
const find = (model: keyof ReadClient, args: object): Target => [model, 'findMany', { ...byId, ...args }]
const users = (args: object) => find('user', args)
const assets = (args: object) => find('asset', args)
const commits = (args: object) => find('commit', args)
const pageOfAssets = (page: object): Target => ['asset', 'findMany', { select: id, ...page }]
const first = (args: object): Target => ['user', 'findFirst', args]
const count = (where: object, model: keyof ReadClient = 'asset'): Target => [model, 'count', { where }]

const ofAsset = (asset: number, sequence: number) => ({ assetId_sequence: { assetId: a(asset), sequence } })
const commitPage = (asset: number, sequence: number, rest: object) => ({
  ...{ where: { assetId: a(asset) }, orderBy: { sequence: 'desc' }, cursor: ofAsset(asset, sequence), ...rest },
})
const newest = { orderBy: { id: 'desc' }, cursor: { id: a(9) } }
const mixedOrder = { orderBy: [{ tag: 'desc' }, { headSequence: 'asc' }, { id: 'desc' }] }
const finalRed = { some: { tag: 'red', commits: { some: { relay: { status: 'FINAL' } } } } }
const address = (digit: number) => `0x${String(digit).padStart(40, '0')}`
const contains = (text: string) => ({ contains: text, mode: 'insensitive' })

export const supported: Record<string, Target> = {
  'a row by its ID': ['user', 'findUniqueOrThrow', { where: { id: u(1) } }],
  'a missing row': ['user', 'findFirst', { where: { id: u(99) } }],
  'a row by a unique field': ['wallet', 'findUniqueOrThrow', { where: { address: address(2) } }],
  'a row by a compound key': ['commit', 'findUniqueOrThrow', { where: ofAsset(1, 2) }],
  'every type of field': assets({}),
  'decimals and nulls': find('transfer', { select: { entries: { orderBy: { position: 'asc' } } } }),
  'bytes and dates': find('apiKey', {}),
  'enums and nullable numbers': commits({ select: { relay: true } }),
  'no arguments': ['apiKey', 'findFirst', undefined],
  'undefined arguments': users({ where: undefined, select: undefined, take: undefined }),
  'select with false and undefined': users({ select: { id: true, email: false, role: undefined } }),
  'a nullable relation': users({ select: { id: true, wallet: true } }),
  'a required relation in a relation': commits({
    select: { id: true, asset: { select: { owner: { select: { wallet: true } } } } },
  }),
  'a nullable relation in a list': assets({
    select: { commits: { select: { relay: { select: { status: true } } }, orderBy: { sequence: 'asc' } } },
  }),
  'nested lists': users({
    select: {
      username: true,
      ownedAssets: {
        select: { nid: true, commits: { orderBy: { sequence: 'desc' }, take: 3 } },
        ...{ orderBy: { id: 'desc' }, take: 10 },
      },
    },
  }),
  'two relations to one model': assets({
    select: { owner: { select: id }, creator: { select: { id: true, wallet: { select: { num: true } } } } },
  }),
  'bytes, dates and big numbers in a list': users({
    select: { accessTokens: byId, ownedAssets: { select: { fileSize: true, custom: true }, ...byId } },
  }),
  'the second page of a list': assets({ select: id, take: 5, skip: 5 }),
  'a page without an order': pageOfAssets({ take: 4, skip: 1 }),
  'a page of a nested list without an order': users({ select: { ownedAssets: { select: id, take: 2, skip: 1 } } }),
  'the last rows with an offset': pageOfAssets({ orderBy: [{ tag: 'desc' }, { id: 'asc' }], take: -3, skip: 2 }),
  'the last rows of nested lists': users({ select: { ownedAssets: { select: id, ...byId, take: -2 } } }),
  nothing: ['asset', 'findMany', { take: 0 }],
  'nulls in the sort order': pageOfAssets({ orderBy: [{ meta: 'desc' }, { id: 'asc' }], take: 7 }),
  'from a cursor': pageOfAssets({ ...newest, take: 3 }),
  'after a cursor': pageOfAssets({ ...newest, skip: 1, take: 3 }),
  'before a cursor': pageOfAssets({ ...newest, skip: 1, take: -3 }),
  'from a cursor without an order': pageOfAssets({ cursor: { id: a(9) }, take: -4 }),
  'from a cursor in a mixed sort order': pageOfAssets({ ...mixedOrder, cursor: { id: a(9) }, skip: 1, take: 6 }),
  'from a cursor that the filter excludes': pageOfAssets({ where: { id: { lt: a(9) } }, ...newest, take: 3 }),
  'from a cursor that is missing': pageOfAssets({ orderBy: { id: 'desc' }, cursor: { id: a(999) }, take: 3 }),
  'after a compound cursor': commits(commitPage(1, 4, { skip: 1, take: 2 })),
  'before a compound cursor': commits(commitPage(1, 2, { skip: 1, take: -2 })),
  'from a missing compound cursor': commits(commitPage(1, 400, { take: 2 })),
  'from a compound cursor of another list': commits({ ...commitPage(1, 2, { take: 2 }), cursor: ofAsset(2, 1) }),
  'after a compound cursor in a nested list': [
    ...(['asset', 'findUniqueOrThrow'] as const),
    { where: { id: a(1) }, select: { commits: { ...commitPage(1, 4, { skip: 1, take: 2 }), where: undefined } } },
  ],
  'from a cursor in nested lists that do not contain it': users({
    select: { id: true, ownedAssets: { select: id, ...byId, cursor: { id: a(9) }, take: 3 } },
  }),
  counts: users({
    select: { _count: { select: { commits: true, ownedAssets: { where: { tag: 'red', owner: { role: 'USER' } } } } } },
  }),
  'counts in a list': users({
    select: { ownedAssets: { select: { _count: { select: { commits: true } } }, ...byId } },
  }),
  'a count of everything': ['asset', 'count', undefined],
  'a count with a limit': ['asset', 'count', { take: 2 }],
  'a count with a limit above the number of rows': ['asset', 'count', { where: { tag: 'red' }, take: 10_000 }],
  'a count with limit 0': ['asset', 'count', { take: 0 }],
  null: count({ meta: null }),
  'an "in" filter': count({ id: { in: [a(1), a(2), a(77)] }, tag: { in: ['red', 'blue'] } }),
  'an empty "in" filter': count({ id: { in: [] } }),
  'an "in" filter for enums and numbers': count(
    { relay: { status: { in: ['FINAL', 'PENDING'] }, blockNumber: { in: [10, 11, 12] } } },
    'commit',
  ),
  ranges: count({ headSequence: { gt: 1, lte: 3 }, fileSize: { gte: 3n }, uploadedAt: { lt: new Date('2026-03-01') } }),
  'a comparison of text': users({ where: { username: { gt: 'user3' } } }),
  'OR with other conditions': assets({
    where: { tag: 'red', OR: [{ headSequence: 1 }, { meta: null, publicAccess: true }] },
  }),
  'a case-insensitive text search': assets({ where: { tag: contains('E') } }),
  'a text search with special characters of LIKE': count({ tag: contains('r_D') }),
  'a text search with escaped characters': count({ tag: contains('r\\_d') }),
  'every alternative of an OR': assets({
    where: { AND: [{ OR: [{ tag: contains('R') }, { headline: contains('1') }] }, { publicAccess: true }] },
  }),
  'an empty AND': count({ AND: [], tag: 'red' }),
  'a case-insensitive filter on a relation': count({
    OR: [{ tag: 'red' }, { owner: { username: contains('USER1') } }],
  }),
  'a condition on a relation': assets({
    where: { owner: { email: 'user2@example.com' } },
    select: { id: true, owner: { select: { role: true } } },
  }),
  'a condition on a nested relation': count(
    { asset: { owner: { wallet: { address: { gt: address(3) } } } } },
    'commit',
  ),
  'null in a nullable relation': count({ relay: { blockNumber: null } }, 'commit'),
  'conditions in a selection': users({
    select: {
      ownedAssets: { where: { OR: [{ publicAccess: true }, { owner: { role: 'ADMIN' } }], deletedAt: null }, ...byId },
    },
  }),
}

export const leftToPrisma: Record<string, Target> = {
  include: first({ where: { id: u(1) }, include: { wallet: true } }),
  'a row by bytes': ['apiKey', 'findUniqueOrThrow', { where: { hash: tokenHash(2) } }],
  'a row by a key and another condition': ['user', 'findUniqueOrThrow', { where: { id: u(1), role: 'ADMIN' } }],
  'an "equals" filter': assets({ where: { tag: { equals: 'red' } } }),
  'an inequality, which excludes nulls': count({ meta: { not: '{}' } }),
  'a comparison of decimals': count({ num: { gte: new Prisma.Decimal('2.5') }, points: { lt: 100 } }, 'wallet'),
  'AND and NOT': count({ AND: [{ tag: 'red' }], NOT: [{ publicAccess: true }, { deletedAt: { not: null } }] }),
  'an empty OR': count({ OR: [] }),
  'an OR with one condition': count({ OR: { tag: 'red' } }),
  'an "is" filter on a relation': count({ asset: { is: { tag: 'red' } } }, 'commit'),
  'text search': assets({ where: { tag: { contains: 'e' } } }),
  notIn: count({ tag: { notIn: ['red'] } }),
  'a negated filter': count({ headSequence: { not: { gt: 2 } } }),
  'a filter on JSON': count({ custom: { equals: {} } }),
  'a "some" condition on a list': users({ where: { ownedAssets: finalRed } }),
  '"every" and "none" filters': count({ ownedAssets: { every: { tag: 'red' }, none: { tag: 'blue' } } }, 'user'),
  'a missing relation': count({ wallet: null }, 'user'),
  isNot: count({ wallet: { isNot: null } }, 'user'),
  distinct: ['asset', 'findMany', { distinct: ['tag'], select: { tag: true }, orderBy: { tag: 'asc' } }],
  'a sort order by a relation': pageOfAssets({ orderBy: [{ owner: { username: 'desc' } }, { id: 'asc' }] }),
  'the position of nulls': pageOfAssets({ orderBy: [{ meta: { sort: 'asc', nulls: 'first' } }, { id: 'asc' }] }),
  omit: first({ omit: { email: true }, where: { id: u(1) } }),
  'all counts': users({ select: { _count: true } }),
  'a count of a page': ['asset', 'count', { skip: 1, take: 3 }],
  'a cursor in a sort order with ties': commits({
    ...{ select: id, orderBy: [{ message: 'asc' }], cursor: { id: commitId(1, 1) }, take: 0 },
  }),
  'a cursor in a sort order with nulls': pageOfAssets({
    ...{ orderBy: [{ meta: 'asc' }, { id: 'asc' }], cursor: { id: a(3) }, take: 3 },
  }),
  'a date as a string': count({ uploadedAt: { gt: '2026-02-01T00:00:00.000Z' } }),
  'select and include': first({ select: id, include: { wallet: true } }),
  'an empty selection': first({ select: {} }),
  'an unknown field': first({ select: { nothing: true } }),
  'an unknown operator': first({ where: { email: { toString: 'x' } } }),
  'a value of a wrong type': first({ where: { email: 3 } }),
  'an unknown enum value': first({ where: { role: 'KING' } }),
  'null for a required field': first({ where: { email: null } }),
  'a unique read without a key': ['user', 'findUniqueOrThrow', { where: { email: 'x' } }],
  'two keys in one sort object': users({ orderBy: { id: 'asc', email: 'asc' } }),
}
