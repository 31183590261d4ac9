import { describe, expect, it } from 'vitest'
import { DomainError } from '../../../src/shared/errors.ts'
import type { Action, Actor, SignedInUser } from '../../../src/shared/policy.ts'
import * as policy from '../../../src/shared/policy.ts'

const origin = { address: '127.0.0.1', service: undefined }
const userActor = (id: string, role: 'USER' | 'ADMIN'): Actor => ({
  kind: 'user',
  id,
  role,
  user: {} as SignedInUser,
  tokenId: '',
  ...origin,
})
const actors = {
  anonymous: { kind: 'anonymous', ...origin },
  stranger: userActor('stranger', 'USER'),
  owner: userActor('owner', 'USER'),
  admin: userActor('admin', 'ADMIN'),
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

describe('policy', () => {
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
  it.each(Object.entries(table))('the policy allows the action %s only to the expected callers', (action, expected) => {
    expect(
      Object.fromEntries(everybody.map((who) => [who, outcome(() => policy.assertMay(actors[who], action as Action))])),
    ).toEqual(expected)
  })
})

const outcomes = (check: (actor: Actor) => void) =>
  Object.fromEntries(everybody.map((who) => [who, outcome(() => check(actors[who]))]))
const results = <Result>(read: (actor: Actor) => Result) =>
  Object.fromEntries(everybody.map((who) => [who, read(actors[who])]))
const allowed = (check: (actor: Actor) => boolean) => everybody.filter((who) => check(actors[who]))

const users = { stranger: 'yes', owner: 'yes', admin: 'yes' }
const notUsers = { anonymous: 'NOT_AUTHENTICATED', system: 'NOT_AUTHENTICATED' }
const operatorsOnly = { stranger: 'PERMISSION_DENIED', owner: 'PERMISSION_DENIED', admin: 'PERMISSION_DENIED' }

it('only users pass the checks for users', () => {
  expect(outcomes(policy.assertUser)).toEqual({ ...users, ...notUsers })
  expect(outcomes((actor) => policy.assertUserMay(actor, 'account:read'))).toEqual({ ...users, ...notUsers })
  expect(outcomes((actor) => policy.assertUserMay(actor, 'account:create'))).toEqual({ ...users, ...notUsers })
  const administering = { ...notUsers, ...operatorsOnly, admin: 'yes' }
  expect(outcomes((actor) => policy.assertUserMay(actor, 'store:administer'))).toEqual(administering)
})

it('only whole names of actions are open to anonymous callers', () => {
  const names = ['asset:read', 'asset:read:all', 'my-asset:read'] as Action[]
  expect(names.map(policy.allowsAnonymous)).toEqual([true, false, false])
})

it('only commands without a guest pass as operators', () => {
  const expected = { anonymous: 'NOT_AUTHENTICATED', ...operatorsOnly, system: 'yes' }
  expect(outcomes(policy.assertOperator)).toEqual(expected)
  const guest: Actor = { kind: 'system', guest: actors.owner as policy.Caller }
  expect(outcome(() => policy.assertOperator(guest))).toBe('PERMISSION_DENIED')
})

it('an invalid API key is always rejected, and a missing key only where a key is needed', () => {
  const withService = (service: policy.Caller['service']) => ({ ...actors.owner, service }) as Actor
  const check = (service: policy.Caller['service'], needed: boolean) =>
    outcome(() => policy.assertTrusted(withService(service), { needed }))
  expect([check(undefined, false), check({ id: 'key' }, false), check({ id: 'key' }, true)]).toEqual([
    'yes',
    'yes',
    'yes',
  ])
  expect([check(undefined, true), check('unknown', false), check('unknown', true)]).toEqual(
    Array(3).fill('UNTRUSTED_CLIENT'),
  )
  expect(outcome(() => policy.assertTrusted(actors.system, { needed: true }))).toBe('yes')
})

describe('assets', () => {
  const [hidden, shown] = [false, true].map((publicAccess) => ({ ownerId: 'owner', publicAccess }))
  const seen = { owner: 'yes', system: 'yes' }
  const unseen = { anonymous: 'NOT_FOUND', stranger: 'NOT_FOUND', admin: 'NOT_FOUND' }
  const denied = { stranger: 'ASSET_WRITE_PERMISSION_DENIED', admin: 'ASSET_WRITE_PERMISSION_DENIED' }
  const on = (action: 'asset:read' | 'asset:update', asset: typeof hidden) =>
    outcomes((actor) => policy.assertMayOnAsset(actor, action, asset))

  it('a private asset is visible only to its owner and the system', () => {
    expect(allowed((actor) => policy.owns(actor, hidden!))).toEqual(['owner', 'system'])
    expect(allowed((actor) => policy.canSeeAsset(actor, hidden!))).toEqual(['owner', 'system'])
    expect(allowed((actor) => policy.canSeeAsset(actor, shown!))).toEqual(everybody)
    expect(on('asset:read', hidden)).toEqual({ ...unseen, ...seen })
  })

  it('an asset is changed only by its owner and the system', () => {
    expect(on('asset:update', hidden)).toEqual({ ...unseen, ...seen, anonymous: 'NOT_AUTHENTICATED' })
    expect(on('asset:update', shown)).toEqual({ ...denied, ...seen, anonymous: 'NOT_AUTHENTICATED' })
    expect(on('asset:read', undefined)).toEqual({ ...unseen, owner: 'NOT_FOUND', system: 'NOT_FOUND' })
  })

  it('lists of assets contain public assets and the assets of the caller', () => {
    const isPublic = { deletedAt: null, publicAccess: true }
    const own = (ownerId: string) => ({ deletedAt: null, OR: [{ publicAccess: true }, { ownerId }] })
    const perUser = { stranger: own('stranger'), owner: own('owner'), admin: own('admin') }
    expect(results(policy.visibleAssets)).toEqual({ anonymous: isPublic, ...perUser, system: { deletedAt: null } })
    expect(policy.readableAssets(actors.anonymous, undefined)).toEqual(isPublic)
    const linked = { id: 'linked', deletedAt: null, owner: { lockedAt: null } }
    expect(policy.readableAssets(actors.anonymous, 'linked')).toEqual({ OR: [isPublic, linked] })
  })
})

it('lists of the store contain only what the caller may read', () => {
  const [all, none] = [{}, { id: { in: [] } }]
  const active = { deactivatedAt: null }
  const apps = { anonymous: none, stranger: active, owner: active, admin: all, system: all }
  expect(results(policy.visibleNetworkApps)).toEqual(apps)
  const by = (buyerId: string) => ({ buyerId })
  const orders = {
    anonymous: { buyerId: { in: [] } },
    stranger: by('stranger'),
    owner: by('owner'),
    admin: by('admin'),
  }
  expect(results(policy.visibleOrders)).toEqual({ ...orders, system: all })
  const refunds = { anonymous: { order: orders.anonymous }, stranger: { order: orders.stranger } }
  expect(results(policy.visibleRefunds)).toEqual({
    ...refunds,
    owner: { order: orders.owner },
    admin: all,
    system: all,
  })
})

it('administrators and the system can administer', () => {
  expect(allowed(policy.canAdminister)).toEqual(['admin', 'system'])
})

it('private fields are visible only to their owner and the system', () => {
  expect(allowed((actor) => policy.canSeePrivateParts(actor, 'owner'))).toEqual(['owner', 'system'])
})
