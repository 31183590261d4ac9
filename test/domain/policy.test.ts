import { describe, expect, it } from 'vitest'
import type { Actor, SignedInUser } from '../../src/domain/actor.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { toId } from '../../src/domain/ids.ts'
import {
  type Action,
  assertMay,
  assertMayOnAsset,
  canSeeAsset,
  canSeePrivateParts,
  visibleAssets,
  visibleOrders,
} from '../../src/domain/policy.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const owner = await app.newUser()
const stranger = await app.newUser()
const admin = await app.admin()

const origin = { address: '127.0.0.1', service: undefined }
const userActor = ({ id }: SignedIn, role: 'USER' | 'ADMIN'): Actor => ({
  kind: 'user',
  id,
  role,
  user: {} as SignedInUser,
  tokenId: '',
  ...origin,
})
const actors = {
  anonymous: { kind: 'anonymous', ...origin },
  stranger: userActor(stranger, 'USER'),
  owner: userActor(owner, 'USER'),
  admin: userActor(admin, 'ADMIN'),
  system: { kind: 'system' },
} satisfies Record<string, Actor>
type Who = keyof typeof actors
const everybody = Object.keys(actors) as Who[]

const outcome = (work: () => void) => {
  try {
    work()
    return 'yes'
  } catch (error) {
    return error instanceof DomainError ? error.code : 'fault'
  }
}

describe('may this actor try this at all', () => {
  const in401 = { anonymous: 'NOT_AUTHENTICATED', stranger: 'yes', owner: 'yes', admin: 'yes', system: 'yes' }
  const open = { ...in401, anonymous: 'yes' }
  const table: Record<Action, Record<Who, string>> = {
    'account:create': open,
    'account:delete': in401,
    'account:export': in401,
    'account:read': in401,
    'account:update': in401,
    'audit:read': in401,
    'event:read': in401,
    'email:verify': open,
    'order:cancel': in401,
    'password:reset': open,
    'order:create': in401,
    'order:pay': in401,
    'order:read': in401,
    'transfer:read': in401,
    'withdrawal:create': in401,
    'withdrawal:read': in401,
    'asset:delete': in401,
    'asset:read': open,
    'asset:register': in401,
    'asset:update': in401,
    'session:create': open,
    'session:end': in401,
    'session:read': in401,
    'store:read': in401,
    'store:administer': { ...in401, stranger: 'PERMISSION_DENIED', owner: 'PERMISSION_DENIED' },
  }
  it.each(Object.entries(table))('%s', (action, expected) => {
    expect(
      Object.fromEntries(everybody.map((who) => [who, outcome(() => assertMay(actors[who], action as Action))])),
    ).toEqual(expected)
  })
})

describe('may this actor do this to that asset', () => {
  const table: [string, 'asset:read' | 'asset:update' | 'asset:delete', boolean | undefined, Record<Who, string>][] = [
    [
      'read a public one',
      'asset:read',
      true,
      { anonymous: 'yes', stranger: 'yes', owner: 'yes', admin: 'yes', system: 'yes' },
    ],
    [
      'read a private one',
      'asset:read',
      false,
      { anonymous: 'NOT_FOUND', stranger: 'NOT_FOUND', owner: 'yes', admin: 'NOT_FOUND', system: 'yes' },
    ],
    ...(['asset:update', 'asset:delete'] as const).flatMap((action): typeof table => [
      [
        `${action} a public one`,
        action,
        true,
        {
          anonymous: 'NOT_AUTHENTICATED',
          stranger: 'ASSET_WRITE_PERMISSION_DENIED',
          owner: 'yes',
          admin: 'ASSET_WRITE_PERMISSION_DENIED',
          system: 'yes',
        },
      ],
      [
        `${action} a private one`,
        action,
        false,
        { anonymous: 'NOT_AUTHENTICATED', stranger: 'NOT_FOUND', owner: 'yes', admin: 'NOT_FOUND', system: 'yes' },
      ],
      [
        `${action} one that is missing`,
        action,
        undefined,
        {
          anonymous: 'NOT_AUTHENTICATED',
          stranger: 'NOT_FOUND',
          owner: 'NOT_FOUND',
          admin: 'NOT_FOUND',
          system: 'NOT_FOUND',
        },
      ],
    ]),
  ]
  it.each(table)('%s', (_, action, publicAccess, expected) => {
    const asset = publicAccess === undefined ? undefined : { ownerId: owner.id, publicAccess }
    expect(
      Object.fromEntries(everybody.map((who) => [who, outcome(() => assertMayOnAsset(actors[who], action, asset))])),
    ).toEqual(expected)
  })
})

it('what is private of a record is the person’s alone', () => {
  const seen = everybody.filter((who) => canSeePrivateParts(actors[who], owner.id))
  expect(seen).toEqual(['owner', 'system'])
})

describe('which rows an actor sees in the database', async () => {
  const rows = {
    'own public': await owner.register({ public_access: 'true' }),
    'own private': await owner.register(),
    'own deleted': await owner.register({ public_access: 'true' }),
    'foreign public': await stranger.register({ public_access: 'true' }),
    'foreign private': await stranger.register(),
  }
  await owner.rest('DELETE', `assets/${rows['own deleted'].id}/`)
  const named = Object.entries(rows).map(([name, { id }]) => [id, name] as const)

  const expected: Record<Who, string[]> = {
    anonymous: ['own public', 'foreign public'],
    owner: ['own public', 'own private', 'foreign public'],
    stranger: ['own public', 'foreign public', 'foreign private'],
    admin: ['own public', 'foreign public'],
    system: ['own public', 'own private', 'foreign public', 'foreign private'],
  }
  it.each(everybody)('%s', async (who) => {
    const found = await app.installation.database.read.asset.findMany({
      where: visibleAssets(actors[who]),
      orderBy: { id: 'asc' },
    })
    expect(found.map(({ nid }) => new Map(named).get(nid))).toEqual(expected[who])
    // The filter and the answer for one row are the same rule.
    const all = await app.installation.database.read.asset.findMany({ where: { deletedAt: null } })
    expect(found.map(({ id }) => id).sort()).toEqual(
      all
        .filter((asset) => canSeeAsset(actors[who], asset))
        .map(({ id }) => id)
        .sort(),
    )
  })
})

describe('which orders an actor sees in the database', async () => {
  const store = await createStore(app, { owner: admin })
  const { id } = await store.order(owner)

  const expected: Record<Who, string[]> = { anonymous: [], owner: [id], stranger: [], admin: [], system: [id] }
  it.each(everybody)('%s', async (who) => {
    const found = await app.installation.database.read.order.findMany({ where: visibleOrders(actors[who]) })
    expect(found.map((order) => toId('order', order.id))).toEqual(expected[who])
  })
})
