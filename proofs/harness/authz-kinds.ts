/** Who asks, and what each of them is to be told. */
import type { ErrorCode } from '../../src/shared/errors.ts'

/**
 * Everything asked for belongs to `owner`. All others but `anonymous` have the same things of their own. `locked` is an
 * administrator whose account is locked, with sessions that a sign-in was writing at that moment.
 */
export const kinds = ['anonymous', 'other', 'owner', 'admin', 'locked'] as const
export type Kind = (typeof kinds)[number]

/** `null` is the answer of a field that may be null; pages are told apart by their status alone. */
export type Outcome = 'allow' | 'null' | ErrorCode | `HTTP ${number}`
export type Expected = Record<Kind, Outcome>

const each = (outcome: Outcome): Expected => ({
  anonymous: outcome,
  other: outcome,
  owner: outcome,
  admin: outcome,
  locked: 'AUTHENTICATION_FAILED',
})

export const everybody = each('allow')
/** Whoever it is: something else than the actor decides. */
export const nobody = (outcome: Outcome) => each(outcome)
export const signedIn: Expected = { ...everybody, anonymous: 'NOT_AUTHENTICATED' }
export const ownerAlone: Expected = { ...each('NOT_FOUND'), anonymous: 'NOT_AUTHENTICATED', owner: 'allow' }
/** Reading what others may see when it is public needs no account. */
export const ownerReads: Expected = { ...each('NOT_FOUND'), owner: 'allow' }
export const admins: Expected = { ...each('PERMISSION_DENIED'), anonymous: 'NOT_AUTHENTICATED', admin: 'allow' }
export const ownerAndAdmins: Expected = { ...admins, owner: 'allow' }

/** Where one gets in again: whoever comes with a token that is good no more is anonymous there. */
export const staleToo = (expected: Expected): Expected => ({ ...expected, locked: expected.anonymous })

/** Of `node(id)`, which tells nobody why. */
export const ownerFinds: Expected = { ...each('null'), owner: 'allow' }
export const adminFinds: Expected = { ...each('null'), admin: 'allow' }
export const signedInFinds: Expected = { ...everybody, anonymous: 'null' }
export const ownerAndAdminFind: Expected = { ...ownerFinds, admin: 'allow' }

/** Pages for administrators: all others are led to the sign-in. */
export const adminPage: Expected = { ...each('HTTP 303'), locked: 'HTTP 303', admin: 'allow' }
