import { z } from 'zod'
import type { Use } from '../../context.ts'
import { numeric, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { notFound } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { fromId } from '../../shared/ids.ts'
import { parse, positiveAmount, requiredText } from '../../shared/input.ts'
import { assertMay, canAdminister, canSeePrivateParts } from '../../shared/policy.ts'
import { normalizeEmail } from '../accounts/account-input.ts'
import { findByName } from '../accounts/find-users.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { nextTransferSql, postTransferSql } from './ledger-sql.ts'

/** `userId`: a user ID, an e-mail address or a username. */
const grantInput = z.strictObject({
  userId: requiredText(254).transform(normalizeEmail),
  amount: positiveAmount,
  reason: requiredText(500),
})

const grantColumns = { id: uuid, userId: uuid, amount: numeric, reason: text, createdAt: timestamp }
export type Grant = RowOf<typeof grantColumns>

const findStatement = statement(
  'grant_find',
  { parameters: { grant: uuid }, columns: grantColumns },
  `select t.id, e.wallet_id as "userId", e.amount, coalesce(t.reason, '') as reason, t.created_at as "createdAt"
   from transfers t join entries e on e.transfer_id = t.id and e.wallet_id is not null
   where t.id = $grant and t.reference = 'grant:' || t.id`,
)

const insertGrant = statement(
  'grant_insert',
  { parameters: { user: uuid, amount: numeric, reason: text, ...audited, ...onceTypes }, columns: { id: uuid } },
  `with credited_wallet as (
     update wallets w set points = w.points + $amount, event_sequence = w.event_sequence + 1
     where w.user_id = $user and w.closed_at is null
     returning w.user_id, w.event_sequence as sequence, ${nextTransferSql('w')} as transfer_id
   ),
   ${postTransferSql({
     from: 'credited_wallet',
     reference: `'grant:' || transfer_id`,
     reason: '$reason',
     lines: [
       { wallet: 'credited_wallet.user_id', currency: 'POINTS', amount: '$amount' },
       { book: 'PROMOTION', currency: 'POINTS', amount: '-$amount' },
     ],
   })},
   ${eventSql({ from: 'credited_wallet', owner: 'user_id', sequence: 'sequence', type: 'points.granted', transfer: 'transfer_id' })},
   ${auditSql({
     ...{ from: 'credited_wallet', user: '$actor', action: 'points.granted', address: '$address' },
     subject: `type_id('grant', transfer_id)`,
   })},
   ${onceSql('transfer_id::text', 'credited_wallet')}
   select transfer_id as id from credited_wallet`,
)

/** Returns a grant by its UUID, or null. Users see their own grants. Administrators see all grants. */
export async function findGrant({ actor, database }: Use<'actor' | 'database'>, uuid: string): Promise<Grant | null> {
  const [grant] = await database.query(findStatement, { grant: uuid })
  return grant && (canAdminister(actor) || canSeePrivateParts(actor, grant.userId)) ? grant : null
}

/** Gives points to a user. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND. */
export async function grantPoints(
  context: IdempotentContext & Use<'config' | 'notifications'>,
  rawInput: z.input<typeof grantInput>,
): Promise<Grant> {
  const { actor, config, database, notifications } = context
  assertMay(actor, 'store:administer')
  const input = parse(grantInput, rawInput)
  const uuid = await once(context, 'grantPoints', input, async () => {
    const [user] = await database.query(findByName, {
      user: fromId(input.userId, 'user')?.uuid ?? null,
      name: input.userId,
      mustBeVerified: config.emailVerification !== 'off',
    })
    if (!user) throw notFound('User')
    const [inserted] = await database.query(insertGrant, {
      ...{ user: user.id, amount: input.amount, reason: input.reason },
      ...auditorOf(actor),
      ...onceParams(context),
    })
    if (!inserted) throw notFound('User')
    notifications.notify(user.id)
    return inserted.id
  })
  const [grant] = await database.query(findStatement, { grant: uuid })
  if (!grant) throw notFound('Grant')
  return grant
}
