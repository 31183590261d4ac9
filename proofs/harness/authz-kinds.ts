/** The kinds of callers and their expected outcomes. */
import type { ErrorCode } from '../../src/shared/errors.ts'

/**
 * All requested data belongs to `owner`. All others, except `anonymous`, have similar data of their own. `locked` is an administrator whose
 * account was locked during a sign-in.
 */
export const kinds = ['anonymous', 'other', 'owner', 'admin', 'locked'] as const
export type Kind = (typeof kinds)[number]

/** Outcome of a request. `null` means that a nullable field returned null. Pages are compared only by HTTP status. */
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
/** Expected outcome that is the same for all callers. */
export const nobody = (outcome: Outcome) => each(outcome)
export const signedIn: Expected = { ...everybody, anonymous: 'NOT_AUTHENTICATED' }
export const ownerAlone: Expected = { ...each('NOT_FOUND'), anonymous: 'NOT_AUTHENTICATED', owner: 'allow' }
/** Expected outcome of reading the owner's private data without write access. */
export const ownerReads: Expected = { ...each('NOT_FOUND'), owner: 'allow' }
export const admins: Expected = { ...each('PERMISSION_DENIED'), anonymous: 'NOT_AUTHENTICATED', admin: 'allow' }
export const ownerAndAdmins: Expected = { ...admins, owner: 'allow' }

/** Expected outcome of routes that ignore an invalid token: a locked caller is treated as anonymous. */
export const staleToo = (expected: Expected): Expected => ({ ...expected, locked: expected.anonymous })

/** Expected outcome of `node(id)`, which returns null without a reason. */
export const ownerFinds: Expected = { ...each('null'), owner: 'allow' }
export const adminFinds: Expected = { ...each('null'), admin: 'allow' }
export const signedInFinds: Expected = { ...everybody, anonymous: 'null' }
export const ownerAndAdminFind: Expected = { ...ownerFinds, admin: 'allow' }

/** Expected outcome of admin pages: all others are redirected to the sign-in page. */
export const adminPage: Expected = { ...each('HTTP 303'), locked: 'HTTP 303', admin: 'allow' }
