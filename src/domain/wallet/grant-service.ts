/** Points that administrators give, and that may expire. Contract: `grantPoints`, `POST /api/v3/store/point-grants/`. */
import type { Actor } from '../actor.ts'
import { auditValues } from '../audit/audit-sql.ts'
import { notFound, validationFailed } from '../errors.ts'
import { type Attempt, type Idempotency, markValues } from '../idempotency.ts'
import { fromId, toId } from '../ids.ts'
import { parse } from '../input.ts'
import { newUuid } from '../new-uuid.ts'
import { assertMay, canAdminister, canSeePrivateParts } from '../policy.ts'
import type { Database, FeedNotices, Log } from '../ports.ts'
import { createSetbacks } from '../setbacks.ts'
import { type GrantInput, grantInput } from './grant-input.ts'
import { findGrant, findGrantee, type Grant, insertGrant } from './grant-statements.ts'
import { closeDueGrants, findDueWallets, holdDueWallet } from './grant-sweep-statements.ts'

interface Dependencies {
  database: Database
  notices: Pick<FeedNotices, 'announce'>
  idempotency: Idempotency
  log: Pick<Log, 'error'>
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** Wallets looked up at once, and grants of one wallet closed at once. */
const PAGE = 100
const GRANTS_AT_ONCE = 500
const FIRST = '00000000-0000-0000-0000-000000000000'

export type GrantService = ReturnType<typeof createGrantService>

export function createGrantService({ database, notices, idempotency, log, verifiesAddresses }: Dependencies) {
  const setbacks = createSetbacks({ first: 30, longest: 3_600 })

  /** Closes a wallet's grants that are due, some at a time; returns how many. */
  async function closeDue(userId: string): Promise<number> {
    for (let closed = 0; ; ) {
      const [last] = await database.transaction(async (query) => {
        const [held] = await query(holdDueWallet, [userId])
        return held ? query(closeDueGrants, [userId, GRANTS_AT_ONCE]) : []
      })
      if (last?.taken) notices.announce(userId)
      closed += last?.closed ?? 0
      if (!last || last.closed < GRANTS_AT_ONCE) return closed
    }
  }

  return {
    /** A grant by its UUID; null when there is none that the actor may see: their own, or any for an administrator. */
    async find(actor: Actor, uuid: string): Promise<Grant | null> {
      const [grant] = await database.query(findGrant, [uuid])
      return grant && (canAdminister(actor) || canSeePrivateParts(actor, grant.userId)) ? grant : null
    },

    /**
     * Gives points to a user, named by identifier, e-mail address or username.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    async grant(actor: Actor, rawInput: GrantInput, attempt: Attempt): Promise<Grant> {
      assertMay(actor, 'store:administer')
      const input = parse(grantInput, rawInput)
      const id = await idempotency.once(actor, attempt, 'grantPoints', input, async () => {
        const [user] = await database.query(findGrantee, [
          ...[fromId(input.userId, 'user')?.uuid ?? null, input.userId, verifiesAddresses],
        ])
        if (!user) throw notFound('User')
        const uuid = newUuid()
        const [giver, address] = auditValues(actor)
        const [made] = await database.query(insertGrant, [
          ...[uuid, user.id, input.amount, input.reason, giver],
          ...[input.expiresAt ?? null, newUuid(), ...markValues(attempt), toId('grant', uuid), address],
        ])
        if (!made) throw validationFailed({ expiresAt: ['Ensure this moment is in the future.'] })
        notices.announce(user.id)
        return made.id
      })
      const [grant] = await database.query(findGrant, [id])
      if (!grant) throw notFound('Grant')
      return grant
    },

    /**
     * Takes back what is left of the grants whose time is over; returns how many were closed. It could not be spent any
     * more anyway. Safe in several processes at once; a wallet that is busy is left to the next time, and one that fails
     * holds up nobody else.
     */
    async sweep(): Promise<number> {
      let closed = 0
      for (let last: { user_id: string; due: string } | undefined; ; ) {
        const page = await database.query(findDueWallets, [last?.due ?? '-infinity', last?.user_id ?? FIRST, PAGE])
        for (const { user_id } of page) {
          if (!setbacks.isDue(user_id)) continue
          try {
            closed += await closeDue(user_id)
            setbacks.forget(user_id)
          } catch (error) {
            const seconds = setbacks.note(user_id)
            log.error(
              { err: error, user: user_id, seconds },
              'Points of a wallet could not be expired; tried again later',
            )
          }
        }
        last = page.at(-1)
        if (!last || page.length < PAGE) return closed
      }
    },
  }
}
