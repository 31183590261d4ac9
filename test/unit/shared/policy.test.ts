import { describe, expect, it } from 'vitest'
import { DomainError } from '../../../src/shared/errors.ts'
import {
  type Action,
  type Actor,
  assertMay,
  canSeePrivateParts,
  type SignedInUser,
} from '../../../src/shared/policy.ts'

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
      Object.fromEntries(everybody.map((who) => [who, outcome(() => assertMay(actors[who], action as Action))])),
    ).toEqual(expected)
  })
})

it('private fields are visible only to their owner and the system', () => {
  const seen = everybody.filter((who) => canSeePrivateParts(actors[who], 'owner'))
  expect(seen).toEqual(['owner', 'system'])
})
