/** Rows for comparing reads: every type of field, nulls where they may be, lists of different lengths. */
import type { PrismaClient } from '../../../src/db/prisma/client.ts'

const uuid = (kind: number, number: number) =>
  `019aa3f0-0000-7000-8${String(kind).padStart(3, '0')}-${String(number).padStart(12, '0')}`

export const userId = (number: number) => uuid(1, number)
export const assetId = (number: number) => uuid(2, number)
export const commitId = (asset: number, sequence: number) => uuid(3, asset * 100 + sequence)
export const transferId = (number: number) => uuid(4, number)
export const tokenHash = (number: number) => new Uint8Array(32).fill(number)

export const users = 8
export const assets = 30
export const commitsOf = (asset: number) => (asset === 1 ? 6 : asset % 4)

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
const day = (number: number) => new Date(Date.UTC(2026, 0, number, 10, 20, 30, (number * 37) % 1000))

export const seed = async (prisma: PrismaClient) => {
  await prisma.user.createMany({
    data: range(1, users).map((n) => ({
      ...{ id: userId(n), username: `user${n}`, email: `user${n}@example.com`, passwordHash: 'x', createdAt: day(n) },
      ...{ role: n === 1 ? ('ADMIN' as const) : ('USER' as const), emailVerified: n % 3 === 0 },
      displayName: n % 2 ? 'Ökonom "Zoë" \\ \u2028 🦊' : '',
    })),
  })
  // The last user has no wallet.
  await prisma.wallet.createMany({
    data: range(1, users - 1).map((n) => ({
      userId: userId(n),
      address: `0x${String(n).padStart(40, '0')}`,
      num: ['0', '0.000000000000000001', '12345678901234567890.123456789012345678', '2.5', '3', '4', '5'][n - 1],
      points: n * 12,
    })),
  })
  await prisma.accessToken.createMany({
    data: range(1, 5).map((n) => ({
      ...{ id: uuid(5, n), userId: userId((n % 3) + 1), hash: tokenHash(n), createdAt: day(n) },
      expiresAt: n % 2 ? day(300 + n) : null,
    })),
  })
  await prisma.apiKey.createMany({
    data: range(1, 2).map((n) => ({
      ...{ id: uuid(6, n), name: `key ${n}`, prefix: `p${n}`, hash: tokenHash(n), createdAt: day(n) },
    })),
  })
  await prisma.asset.createMany({
    data: range(1, assets).map((n) => ({
      ...{ id: assetId(n), nid: `nid${n}`, fileName: `file-${n}.png`, mimeType: 'image/png' },
      // The last two users own nothing.
      ownerId: userId((n % (users - 2)) + 1),
      creatorId: userId((n % 3) + 1),
      fileSize: n === 5 ? 9_007_199_254_740_993n : BigInt(n),
      ...{ sha256: String(n).padStart(64, '0'), tag: ['red', 'blue', ''][n % 3], publicAccess: n % 2 === 0 },
      custom: n % 4 ? { n, list: [1, null, 'x'], deep: { half: 0.5, date: '2026-01-01' } } : {},
      meta: n % 3 === 0 ? null : n % 3 === 1 ? '{}' : `meta ${n}`,
      headSequence: Math.max(1, commitsOf(n)),
      headCommitId: commitId(n, Math.max(1, commitsOf(n))),
      ...{ uploadedAt: day(n * 4), updatedAt: day(n * 5), deletedAt: n % 7 === 0 ? day(200 + n) : null },
    })),
  })
  const commits = range(1, assets).flatMap((asset) =>
    range(1, commitsOf(asset)).map((sequence) => ({ asset, sequence })),
  )
  await prisma.commit.createMany({
    data: commits.map(({ asset, sequence }) => ({
      ...{ id: commitId(asset, sequence), assetId: assetId(asset), sequence, message: sequence % 2 ? 'odd' : '' },
      ...{ authorId: userId(((asset + sequence) % users) + 1), changes: { headline: [null, `v${sequence}`] } },
      ...{ tree: `{"asset":${asset}}`, treeCid: `tree${asset}-${sequence}` },
      treeSha256: String(asset * 100 + sequence).padStart(64, '0'),
      createdAt: day(asset + sequence),
    })),
  })
  const statuses = ['PENDING', 'BROADCAST', 'INCLUDED', 'FINAL', 'FAILED'] as const
  await prisma.commitRelay.createMany({
    data: commits
      .filter(({ asset }) => asset % 5 !== 0)
      .map(({ asset, sequence }) => ({
        ...{ commitId: commitId(asset, sequence), status: statuses[(asset + sequence) % 5] },
        ...{ blockNumber: sequence % 2 ? asset : null, updatedAt: day(asset) },
      })),
  })
  await prisma.transfer.createMany({
    data: range(1, 6).map((n) => ({ id: transferId(n), reference: `commit:${n}`, createdAt: day(n) })),
  })
  await prisma.entry.createMany({
    data: range(1, 6).flatMap((n) => [
      { transferId: transferId(n), position: 0, walletId: userId(n), currency: 'NUM' as const, amount: '-0.179' },
      { transferId: transferId(n), position: 1, book: 'REVENUE' as const, currency: 'NUM' as const, amount: '0.1' },
      { transferId: transferId(n), position: 2, book: 'GAS' as const, currency: 'NUM' as const, amount: '0.079' },
    ]),
  })
  await prisma.$executeRaw`analyze`
}
