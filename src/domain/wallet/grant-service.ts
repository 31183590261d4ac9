/** Points that administrators give, and that may expire. Contract: `grantPoints`, `POST /api/v3/store/point-grants/`. */
import type { Actor } from '../actor.ts'
import { auditValues } from '../audit/audit-sql.ts'
import { notFound, validationFailed } from '../errors.ts'
import { type Attempt, type Idempotency, markValues } from '../idempotency.ts'
import { fromId, toId } from '../ids.ts'
import { parse } from '../input.ts'
import { fromUnits, toUnits } from '../money.ts'
import { newUuid } from '../new-uuid.ts'
import { assertMay } from '../policy.ts'
import type { Database, FeedNotices } from '../ports.ts'
import { leftOfGrants } from './grant-expiry.ts'
import { type GrantInput, grantInput } from './grant-input.ts'
import {
  expireGrant,
  findDueGrants,
  findGrant,
  findGrantee,
  type Grant,
  insertGrant,
  readPoints,
} from './grant-statements.ts'

interface Dependencies {
  database: Database
  notices: Pick<FeedNotices, 'announce'>
  idempotency: Idempotency
}

/** Grants looked up at once. */
const PAGE = 100
/** How often a grant is tried whose wallet is busy, before it is left to the next sweep. */
const TRIES = 10

export type GrantService = ReturnType<typeof createGrantService>

export function createGrantService({ database, notices, idempotency }: Dependencies) {
  /** Whether the grant was closed by us. */
  async function expire(id: string, userId: string): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const [wallet] = await database.query(readPoints, [userId])
      if (!wallet || wallet.grants.some((grant) => grant.id === id && grant.expiredAt !== null)) return false
      const terms = wallet.grants.map((grant) => ({
        id: grant.id,
        expiresAt: grant.expiresAt === null ? null : new Date(grant.expiresAt),
      }))
      const movements = wallet.movements.map((movement) => ({ ...movement, at: new Date(movement.at) }))
      const left = leftOfGrants(movements, terms).get(id) ?? 0n
      const points = toUnits(wallet.points)
      const back = left < points ? left : points
      const [closed] = await database.query(expireGrant, [id, wallet.version, fromUnits(back), newUuid()])
      if (closed) {
        notices.announce(userId)
        return true
      }
    }
    return false
  }

  return {
    /**
     * Gives points to a user, named by identifier, e-mail address or username.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    async grant(actor: Actor, rawInput: GrantInput, attempt: Attempt): Promise<Grant> {
      assertMay(actor, 'store:administer')
      const input = parse(grantInput, rawInput)
      const id = await idempotency.once(actor, attempt, 'grantPoints', input, async () => {
        const [user] = await database.query(findGrantee, [fromId(input.userId, 'user')?.uuid ?? null, input.userId])
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
     * Takes back what is left of the grants whose time is over; returns how many were closed. Safe in several processes
     * at once; a wallet that is busy is left to the next time.
     */
    async sweep(): Promise<number> {
      let closed = 0
      for (;;) {
        const due = await database.query(findDueGrants, [PAGE])
        let progress = 0
        for (const { id, user_id } of due) if (await expire(id, user_id)) progress += 1
        closed += progress
        if (due.length < PAGE || progress === 0) return closed
      }
    },
  }
}
