/** Points that administrators give, and that may expire. Contract: `grantPoints`, `POST /api/v3/store/point-grants/`. */
import { findByName } from '../account/lock-statements.ts'
import type { Actor } from '../actor.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { notFound, validationFailed } from '../errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../idempotency.ts'
import { fromId } from '../ids.ts'
import { parse } from '../input.ts'
import { assertMay, canAdminister, canSeePrivateParts } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import type { FeedNotifications } from '../ports/feed.ts'
import type { Log } from '../ports/log.ts'
import { createSweeper } from '../sweep/sweeper.ts'
import { type GrantInput, grantInput } from './grant-input.ts'
import { findGrant, type Grant, insertGrant } from './grant-statements.ts'
import { closeDueGrants, findDueWallets, holdDueWallet } from './grant-sweep-statements.ts'

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  idempotency: Idempotency
  log: Pick<Log, 'error'>
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** Wallets looked up at once, and grants of one wallet closed at once. */
const PAGE = 100
const GRANTS_AT_ONCE = 500
/** Points that are given: by administrators, until a moment or for ever, and taken back by a sweep once their time is over. */
export function createGrantService({ database, notifications, idempotency, log, verifiesAddresses }: Dependencies) {
  const sweeper = createSweeper({ database, log, notifications })

  return {
    /** A grant by its UUID; null when there is none that the actor may see: their own, or any for an administrator. */
    async find(actor: Actor, uuid: string): Promise<Grant | null> {
      const [grant] = await database.query(findGrant, { grant: uuid })
      return grant && (canAdminister(actor) || canSeePrivateParts(actor, grant.userId)) ? grant : null
    },

    /**
     * Gives points to a user, named by identifier, e-mail address or username.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    async grant(actor: Actor, rawInput: GrantInput, context: IdempotencyContext): Promise<Grant> {
      assertMay(actor, 'store:administer')
      const input = parse(grantInput, rawInput)
      const id = await idempotency.once(actor, context, 'grantPoints', input, async () => {
        const [user] = await database.query(findByName, {
          user: fromId(input.userId, 'user')?.uuid ?? null,
          name: input.userId,
          mustBeVerified: verifiesAddresses,
        })
        if (!user) throw notFound('User')
        const { amount, reason, expiresAt = null } = input
        const [made] = await database.query(insertGrant, {
          ...{ user: user.id, amount, reason, expiresAt },
          ...auditorOf(actor),
          ...fingerprintOf(context),
        })
        if (!made) throw validationFailed({ expiresAt: ['Ensure this moment is in the future.'] })
        notifications.notify(user.id)
        return made.id
      })
      const [grant] = await database.query(findGrant, { grant: id })
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
      await sweeper.run({
        name: 'expire-points',
        find: (query, part) => query(findDueWallets, part),
        page: PAGE,
        isOneByOne: true,
        async carryOut(query, [user]) {
          const [held] = await query(holdDueWallet, { user: user! })
          const [last] = held ? await query(closeDueGrants, { user: user!, limit: GRANTS_AT_ONCE }) : []
          if (!held || !last) return { items: [] }
          closed += last.closed
          const items = [held.user_id]
          const unfinished = last.closed === GRANTS_AT_ONCE ? items : []
          return { items, unfinished, owners: last.taken ? items : [] }
        },
      })
      return closed
    },
  }
}
