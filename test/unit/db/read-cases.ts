/** Arguments of reads by what is special about them. */
import type { ReadClient } from '../../../src/db/database-types.ts'
import { Prisma } from '../../../src/db/prisma/client.ts'
import { assetId, commitId, tokenHash, userId } from './read-seed.ts'

export type Target = [model: keyof ReadClient, method: string, args?: unknown]

const u = userId
const a = assetId

const commitPage = (asset: number, sequence: number, rest: object) => ({
  where: { assetId: a(asset) },
  orderBy: { sequence: 'desc' },
  cursor: { assetId_sequence: { assetId: a(asset), sequence } },
  ...rest,
})

export const supported: Record<string, Target> = {
  'a row by its ID': ['user', 'findUniqueOrThrow', { where: { id: u(1) } }],
  'a missing row': ['user', 'findFirst', { where: { id: u(99) } }],
  'a row by a unique field': [
    'wallet',
    'findUniqueOrThrow',
    { where: { address: '0x0000000000000000000000000000000000000002' } },
  ],
  'a row by a compound key': [
    'commit',
    'findUniqueOrThrow',
    { where: { assetId_sequence: { assetId: a(1), sequence: 2 } } },
  ],
  'every type of field': ['asset', 'findMany', { orderBy: { id: 'asc' } }],
  'decimals and nulls': [
    'transfer',
    'findMany',
    { select: { entries: { orderBy: { position: 'asc' } } }, orderBy: { id: 'asc' } },
  ],
  'bytes and dates': ['apiKey', 'findMany', { orderBy: { id: 'asc' } }],
  'enums and nullable numbers': ['commit', 'findMany', { select: { relay: true }, orderBy: { id: 'asc' } }],
  'no arguments': ['apiKey', 'findFirst', undefined],
  'undefined arguments': [
    'user',
    'findMany',
    { where: undefined, select: undefined, take: undefined, orderBy: { id: 'asc' } },
  ],
  'select with false and undefined': [
    'user',
    'findMany',
    { select: { id: true, email: false, role: undefined }, orderBy: { id: 'asc' } },
  ],
  'a nullable relation': ['user', 'findMany', { select: { id: true, wallet: true }, orderBy: { id: 'asc' } }],
  'a required relation in a relation': [
    'commit',
    'findMany',
    { select: { id: true, asset: { select: { owner: { select: { wallet: true } } } } }, orderBy: { id: 'asc' } },
  ],
  'a nullable relation in a list': [
    'asset',
    'findMany',
    {
      select: {
        commits: {
          select: { id: true, relay: { select: { status: true, blockNumber: true } } },
          orderBy: { sequence: 'asc' },
        },
      },
      orderBy: { id: 'asc' },
    },
  ],
  'nested lists': [
    'user',
    'findMany',
    {
      select: {
        username: true,
        ownedAssets: {
          select: { nid: true, commits: { orderBy: { sequence: 'desc' }, take: 3 } },
          orderBy: { id: 'desc' },
          take: 10,
        },
      },
      orderBy: { id: 'asc' },
    },
  ],
  'two relations to one model': [
    'asset',
    'findMany',
    {
      select: { owner: { select: { id: true } }, creator: { select: { id: true, wallet: { select: { num: true } } } } },
      orderBy: { id: 'asc' },
    },
  ],
  'bytes, dates and big numbers in a list': [
    'user',
    'findMany',
    {
      select: {
        accessTokens: { orderBy: { id: 'asc' } },
        ownedAssets: { select: { fileSize: true, custom: true }, orderBy: { id: 'asc' } },
      },
      orderBy: { id: 'asc' },
    },
  ],
  'the second page of a list': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: { id: 'asc' }, take: 5, skip: 5 },
  ],
  'a page without an order': ['asset', 'findMany', { select: { id: true }, take: 4, skip: 1 }],
  'a page of a nested list without an order': [
    'user',
    'findMany',
    { select: { ownedAssets: { select: { id: true }, take: 2, skip: 1 } }, orderBy: { id: 'asc' } },
  ],
  'the last rows': ['asset', 'findMany', { select: { id: true }, orderBy: { id: 'asc' }, take: -3 }],
  'the last rows with an offset': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: [{ tag: 'desc' }, { id: 'asc' }], take: -3, skip: 2 },
  ],
  'the last rows of nested lists': [
    'user',
    'findMany',
    { select: { ownedAssets: { select: { id: true }, orderBy: { id: 'asc' }, take: -2 } }, orderBy: { id: 'asc' } },
  ],
  nothing: ['asset', 'findMany', { take: 0 }],
  'nulls in the sort order': [
    'asset',
    'findMany',
    { select: { id: true, meta: true }, orderBy: [{ meta: 'desc' }, { id: 'asc' }], take: 7 },
  ],
  'from a cursor': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: { id: 'desc' }, cursor: { id: a(9) }, take: 3 },
  ],
  'after a cursor': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: { id: 'desc' }, cursor: { id: a(9) }, skip: 1, take: 3 },
  ],
  'before a cursor': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: { id: 'desc' }, cursor: { id: a(9) }, skip: 1, take: -3 },
  ],
  'from a cursor without an order': ['asset', 'findMany', { select: { id: true }, cursor: { id: a(9) }, take: -4 }],
  'from a cursor in a mixed sort order': [
    'asset',
    'findMany',
    {
      select: { id: true },
      orderBy: [{ tag: 'desc' }, { headSequence: 'asc' }, { id: 'desc' }],
      cursor: { id: a(9) },
      skip: 1,
      take: 6,
    },
  ],
  'from a cursor that the filter excludes': [
    'asset',
    'findMany',
    { select: { id: true }, where: { id: { lt: a(9) } }, orderBy: { id: 'desc' }, cursor: { id: a(9) }, take: 3 },
  ],
  'from a cursor that is missing': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: { id: 'desc' }, cursor: { id: a(999) }, take: 3 },
  ],
  'after a compound cursor': ['commit', 'findMany', commitPage(1, 4, { skip: 1, take: 2 })],
  'before a compound cursor': ['commit', 'findMany', commitPage(1, 2, { skip: 1, take: -2 })],
  'from a missing compound cursor': ['commit', 'findMany', commitPage(1, 400, { take: 2 })],
  'from a compound cursor of another list': [
    'commit',
    'findMany',
    { ...commitPage(1, 2, { take: 2 }), cursor: { assetId_sequence: { assetId: a(2), sequence: 1 } } },
  ],
  'after a compound cursor in a nested list': [
    'asset',
    'findUniqueOrThrow',
    { where: { id: a(1) }, select: { commits: { ...commitPage(1, 4, { skip: 1, take: 2 }), where: undefined } } },
  ],
  'from a cursor in nested lists that do not contain it': [
    'user',
    'findMany',
    {
      select: {
        id: true,
        ownedAssets: { select: { id: true }, orderBy: { id: 'asc' }, cursor: { id: a(9) }, take: 3 },
      },
      orderBy: { id: 'asc' },
    },
  ],
  counts: [
    'user',
    'findMany',
    {
      select: {
        id: true,
        _count: { select: { commits: true, ownedAssets: { where: { tag: 'red', owner: { role: 'USER' } } } } },
      },
      orderBy: { id: 'asc' },
    },
  ],
  'counts in a list': [
    'user',
    'findMany',
    {
      select: { ownedAssets: { select: { _count: { select: { commits: true } } }, orderBy: { id: 'asc' } } },
      orderBy: { id: 'asc' },
    },
  ],
  'a count': ['asset', 'count', { where: { ownerId: u(1) } }],
  'a count of everything': ['asset', 'count', undefined],
  'a count with a limit': ['asset', 'count', { take: 2 }],
  'a count with a limit above the number of rows': ['asset', 'count', { where: { tag: 'red' }, take: 10_000 }],
  'a count with limit 0': ['asset', 'count', { take: 0 }],
  null: ['asset', 'count', { where: { meta: null } }],
  'an "in" filter': ['asset', 'count', { where: { id: { in: [a(1), a(2), a(77)] }, tag: { in: ['red', 'blue'] } } }],
  'an empty "in" filter': ['asset', 'count', { where: { id: { in: [] } } }],
  'an "in" filter for enums and numbers': [
    'commit',
    'count',
    { where: { relay: { status: { in: ['FINAL', 'PENDING'] }, blockNumber: { in: [10, 11, 12] } } } },
  ],
  ranges: [
    'asset',
    'count',
    {
      where: {
        headSequence: { gt: 1, lte: 3 },
        fileSize: { gte: 3n },
        uploadedAt: { lt: new Date('2026-03-01T00:00:00.000Z') },
      },
    },
  ],
  'a comparison of text': ['user', 'findMany', { where: { username: { gt: 'user3' } }, orderBy: { username: 'asc' } }],
  'OR with other conditions': [
    'asset',
    'findMany',
    { where: { tag: 'red', OR: [{ headSequence: 1 }, { meta: null, publicAccess: true }] }, orderBy: { id: 'asc' } },
  ],
  'a case-insensitive text search': [
    'asset',
    'findMany',
    { where: { tag: { contains: 'E', mode: 'insensitive' } }, orderBy: { id: 'asc' } },
  ],
  'a text search with special characters of LIKE': [
    'asset',
    'count',
    { where: { tag: { contains: 'r_D', mode: 'insensitive' } } },
  ],
  'a text search with escaped characters': [
    'asset',
    'count',
    { where: { tag: { contains: 'r\\_d', mode: 'insensitive' } } },
  ],
  'every alternative of an OR': [
    'asset',
    'findMany',
    {
      where: {
        AND: [
          {
            OR: [{ tag: { contains: 'R', mode: 'insensitive' } }, { headline: { contains: '1', mode: 'insensitive' } }],
          },
          { publicAccess: true },
        ],
      },
      orderBy: { id: 'asc' },
    },
  ],
  'an empty AND': ['asset', 'count', { where: { AND: [], tag: 'red' } }],
  'a case-insensitive filter on a relation': [
    'asset',
    'count',
    { where: { OR: [{ tag: 'red' }, { owner: { username: { contains: 'USER1', mode: 'insensitive' } } }] } },
  ],
  'a condition on a relation': [
    'asset',
    'findMany',
    {
      where: { owner: { email: 'user2@example.com' } },
      select: { id: true, owner: { select: { role: true } } },
      orderBy: { id: 'asc' },
    },
  ],
  'a condition on a nested relation': [
    'commit',
    'count',
    { where: { asset: { owner: { wallet: { address: { gt: '0x0000000000000000000000000000000000000003' } } } } } },
  ],
  'null in a nullable relation': ['commit', 'count', { where: { relay: { blockNumber: null } } }],
  'conditions in a selection': [
    'user',
    'findMany',
    {
      select: {
        ownedAssets: {
          where: { OR: [{ publicAccess: true }, { owner: { role: 'ADMIN' } }], deletedAt: null },
          orderBy: { id: 'asc' },
        },
      },
      orderBy: { id: 'asc' },
    },
  ],
}

export const leftToPrisma: Record<string, Target> = {
  include: ['user', 'findFirst', { where: { id: u(1) }, include: { wallet: true } }],
  'a row by bytes': ['apiKey', 'findUniqueOrThrow', { where: { hash: tokenHash(2) } }],
  'a row by a key and another condition': ['user', 'findUniqueOrThrow', { where: { id: u(1), role: 'ADMIN' } }],
  'an "equals" filter': ['asset', 'findMany', { where: { tag: { equals: 'red' } }, orderBy: { id: 'asc' } }],
  'an inequality, which excludes nulls': ['asset', 'count', { where: { meta: { not: '{}' } } }],
  'a comparison of decimals': [
    'wallet',
    'count',
    { where: { num: { gte: new Prisma.Decimal('2.5') }, points: { lt: 100 } } },
  ],
  'AND and NOT': [
    'asset',
    'count',
    { where: { AND: [{ tag: 'red' }], NOT: [{ publicAccess: true }, { deletedAt: { not: null } }] } },
  ],
  'an empty OR': ['asset', 'count', { where: { OR: [] } }],
  'an OR with one condition': ['asset', 'count', { where: { OR: { tag: 'red' } } }],
  'an "is" filter on a relation': ['commit', 'count', { where: { asset: { is: { tag: 'red' } } } }],
  'text search': ['asset', 'findMany', { where: { tag: { contains: 'e' } }, orderBy: { id: 'asc' } }],
  notIn: ['asset', 'count', { where: { tag: { notIn: ['red'] } } }],
  'a negated filter': ['asset', 'count', { where: { headSequence: { not: { gt: 2 } } } }],
  'a filter on JSON': ['asset', 'count', { where: { custom: { equals: {} } } }],
  'a "some" condition on a list': [
    'user',
    'findMany',
    {
      where: { ownedAssets: { some: { tag: 'red', commits: { some: { relay: { status: 'FINAL' } } } } } },
      orderBy: { id: 'asc' },
    },
  ],
  '"every" and "none" filters': [
    'user',
    'count',
    { where: { ownedAssets: { every: { tag: 'red' }, none: { tag: 'blue' } } } },
  ],
  'a missing relation': ['user', 'count', { where: { wallet: null } }],
  isNot: ['user', 'count', { where: { wallet: { isNot: null } } }],
  distinct: ['asset', 'findMany', { distinct: ['tag'], select: { tag: true }, orderBy: { tag: 'asc' } }],
  'a sort order by a relation': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: [{ owner: { username: 'desc' } }, { id: 'asc' }] },
  ],
  'the position of nulls': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: [{ meta: { sort: 'asc', nulls: 'first' } }, { id: 'asc' }] },
  ],
  omit: ['user', 'findFirst', { omit: { email: true }, where: { id: u(1) } }],
  'all counts': ['user', 'findMany', { select: { _count: true }, orderBy: { id: 'asc' } }],
  'a count of a page': ['asset', 'count', { skip: 1, take: 3 }],
  'a cursor in a sort order with ties': [
    'commit',
    'findMany',
    { select: { id: true }, orderBy: [{ message: 'asc' }], cursor: { id: commitId(1, 1) }, take: 0 },
  ],
  'a cursor in a sort order with nulls': [
    'asset',
    'findMany',
    { select: { id: true }, orderBy: [{ meta: 'asc' }, { id: 'asc' }], cursor: { id: a(3) }, take: 3 },
  ],
  'a date as a string': ['asset', 'count', { where: { uploadedAt: { gt: '2026-02-01T00:00:00.000Z' } } }],
  'select and include': ['user', 'findFirst', { select: { id: true }, include: { wallet: true } }],
  'an empty selection': ['user', 'findFirst', { select: {} }],
  'an unknown field': ['user', 'findFirst', { select: { nothing: true } }],
  'an unknown operator': ['user', 'findFirst', { where: { email: { toString: 'x' } } }],
  'a value of a wrong type': ['user', 'findFirst', { where: { email: 3 } }],
  'an unknown enum value': ['user', 'findFirst', { where: { role: 'KING' } }],
  'null for a required field': ['user', 'findFirst', { where: { email: null } }],
  'a unique read without a key': ['user', 'findUniqueOrThrow', { where: { email: 'x' } }],
  'two keys in one sort object': ['user', 'findMany', { orderBy: { id: 'asc', email: 'asc' } }],
}
