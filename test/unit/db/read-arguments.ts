/** Generates random read arguments from a seed. Every list has a total order, because the order of ties is undefined. */
import type { ReadClient } from '../../../src/db/database-types.ts'
import { assetId, assets, commitId, commitsOf, tokenHash, transferId, userId, users } from './read-seed.ts'

interface Kind {
  fields: Record<string, readonly unknown[]>
  ones: Record<string, string>
  lists: Record<string, string>
  last: readonly string[]
  cursor?: (pick: Pick) => object
}

type Pick = <T>(from: readonly T[]) => T

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const userIds = numbers(users).map(userId)
const assetIds = numbers(assets).map(assetId)
const dates = [new Date('2026-01-10T00:00:00.123Z'), new Date('2026-02-20T10:20:30.740Z')]

const kinds: Record<string, Kind> = {
  user: {
    fields: {
      ...{ id: userIds, username: ['user1', 'user5'], role: ['ADMIN', 'USER'] },
      ...{ emailVerified: [true, false], createdAt: dates },
    },
    ones: { wallet: 'wallet' },
    lists: { ownedAssets: 'asset', createdAssets: 'asset', commits: 'commit', accessTokens: 'accessToken' },
    last: ['id'],
    cursor: (pick) => ({ id: pick(userIds) }),
  },
  wallet: {
    fields: { userId: userIds, num: [0, '2.5', 3], points: [12, '48.000'] },
    ones: { user: 'user' },
    lists: { entries: 'entry' },
    last: ['userId'],
    cursor: (pick) => ({ userId: pick(userIds) }),
  },
  accessToken: {
    fields: { id: [userId(1)], userId: userIds, hash: [tokenHash(1), tokenHash(4)], expiresAt: [...dates, null] },
    ones: { user: 'user' },
    lists: {},
    last: ['id'],
  },
  asset: {
    fields: {
      ...{ id: assetIds, ownerId: userIds, tag: ['red', 'blue', ''], publicAccess: [true, false] },
      ...{ fileSize: [3n, 9_007_199_254_740_993n, 20], meta: ['{}', 'meta 5', null], headSequence: [1, 2, 3] },
      ...{ uploadedAt: dates, deletedAt: [...dates, null] },
    },
    ones: { owner: 'user', creator: 'user' },
    lists: { commits: 'commit' },
    last: ['id'],
    cursor: (pick) => ({ id: pick(assetIds) }),
  },
  commit: {
    fields: { assetId: assetIds, sequence: [1, 2, 3], authorId: userIds, message: ['odd', ''], createdAt: dates },
    ones: { asset: 'asset', author: 'user', relay: 'commitRelay' },
    lists: {},
    last: ['assetId', 'sequence'],
    cursor: (pick) => {
      const asset = pick([1, 2, 3, 5, 6, 7])
      const sequence = pick(numbers(commitsOf(asset)))
      return pick([{ id: commitId(asset, sequence) }, { assetId_sequence: { assetId: assetId(asset), sequence } }])
    },
  },
  commitRelay: {
    fields: {
      ...{ commitId: [commitId(1, 1), commitId(2, 1)], status: ['PENDING', 'FINAL', 'FAILED'] },
      ...{ blockNumber: [1, 7, null], updatedAt: dates },
    },
    ones: { commit: 'commit' },
    lists: {},
    last: ['commitId'],
  },
  transfer: {
    fields: { id: numbers(6).map(transferId), reference: ['commit:1', 'commit:2'], createdAt: dates },
    ones: {},
    lists: { entries: 'entry' },
    last: ['id'],
  },
  entry: {
    fields: {
      ...{ position: [0, 1, 2], walletId: [...userIds, null] },
      ...{ book: ['REVENUE', 'GAS', null], amount: ['0.1', '-0.179'] },
    },
    ones: { transfer: 'transfer', wallet: 'wallet' },
    lists: {},
    last: ['transferId', 'position'],
  },
}

const unordered = ['role', 'emailVerified', 'publicAccess', 'status', 'book']
const unasked = ['num', 'points', 'amount', 'hash']
const roots = ['user', 'wallet', 'asset', 'commit', 'transfer'] as const satisfies (keyof ReadClient)[]

export const argumentsGenerator = (seed: number) => {
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const chance = (probability: number) => random() < probability
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as never
  const some = (keys: readonly string[], probability: number) => keys.filter(() => chance(probability))
  const kindOf = (name: string) => kinds[name] as Kind

  const filterOf = (field: string, values: readonly unknown[]): unknown => {
    const solid = values.filter((value) => value !== null)
    if (chance(0.4)) return pick(values)
    if (!['emailVerified', 'publicAccess'].includes(field) && chance(0.3))
      return { in: solid.filter(() => chance(0.6)) }
    return unordered.includes(field) ? pick(values) : { [pick(['lt', 'lte', 'gt', 'gte'])]: pick(solid) }
  }

  const whereOf = (name: string, depth: number): Record<string, unknown> => {
    const kind = kindOf(name)
    const where: Record<string, unknown> = {}
    const asked = Object.keys(kind.fields).filter((field) => !unasked.includes(field))
    for (const field of some(asked, 0.2)) where[field] = filterOf(field, kind.fields[field] ?? [])
    if (depth <= 0) return where
    for (const one of some(Object.keys(kind.ones), 0.15))
      where[one] = tellingWhereOf(kind.ones[one] as string, depth - 1)
    if (chance(0.15)) where.OR = numbers(pick([1, 2])).map(() => tellingWhereOf(name, depth - 1))
    return where
  }

  const tellingWhereOf = (name: string, depth: number) => {
    const where = whereOf(name, depth)
    const { fields, last } = kindOf(name)
    const [field] = last as [string]
    return Object.keys(where).length > 0 ? where : { [field]: pick(fields[field] ?? []) }
  }

  const orderOf = (name: string) => {
    const { fields, last } = kindOf(name)
    const first = chance(0.5) ? [pick(Object.keys(fields))] : []
    return [...first, ...last].map((field) => ({ [field]: pick(['asc', 'desc']) }))
  }

  const pageOf = (name: string): Record<string, unknown> => {
    const { cursor } = kindOf(name)
    // Most cursors without `take` are left to Prisma. After a deleted cursor row, compiled reads continue but Prisma does not.
    const paged = cursor !== undefined && chance(0.2)
    return {
      orderBy: orderOf(name),
      ...(paged || chance(0.5) ? { take: pick([1, 2, 3, 5, 10, -1, -2, -4]) } : {}),
      ...(!paged && chance(0.3) ? { skip: pick([0, 1, 2]) } : {}),
      ...(paged ? { cursor: cursor(pick) } : {}),
    }
  }

  const selectionOf = (name: string, depth: number): Record<string, unknown> => {
    const kind = kindOf(name)
    const chosen: Record<string, unknown> = {}
    if (depth > 0) {
      for (const one of some(Object.keys(kind.ones), 0.4)) {
        const inner = selectionOf(kind.ones[one] as string, depth - 1)
        chosen[one] = Object.keys(inner).length > 0 ? inner : true
      }
      for (const list of some(Object.keys(kind.lists), 0.4)) {
        const other = kind.lists[list] as string
        const where = chance(0.4) ? { where: whereOf(other, 1) } : {}
        chosen[list] = { ...selectionOf(other, depth - 1), ...pageOf(other), ...where }
      }
      const counted = some(Object.keys(kind.lists), 0.2)
      if (counted.length > 0) {
        const counts = counted.map((list) => {
          const where = { where: whereOf(kind.lists[list] as string, 1) }
          return [list, chance(0.5) ? true : where]
        })
        chosen._count = { select: Object.fromEntries(counts) }
      }
    }
    if (Object.keys(chosen).length === 0 && chance(0.5)) return {}
    const fields = some(Object.keys(kind.fields), 0.5)
    for (const field of [...fields, kind.last[0] as string]) chosen[field] = true
    return { select: chosen }
  }

  return (): [model: keyof ReadClient, method: string, args: unknown] => {
    const model = pick(roots)
    const method = pick(['findMany', 'findMany', 'findMany', 'findFirst', 'count'])
    const where = chance(0.6) ? { where: whereOf(model, 2) } : {}
    if (method === 'count') return [model, method, chance(0.3) ? { ...where, take: pick([0, 1, 3, 100]) } : where]
    const selection = selectionOf(model, 3)
    if (method === 'findFirst') return [model, method, { ...selection, ...where, orderBy: orderOf(model) }]
    return [model, method, { ...selection, ...where, ...pageOf(model) }]
  }
}
