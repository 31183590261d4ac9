import type { OneTimeToken } from '../../db/prisma/client.ts'
import { bytes, int, statement, text, textOf, uuid } from '../../db/sql.ts'

/** `hash` is the secret's. */
const token = { user: uuid, purpose: textOf<OneTimeToken['purpose']>('token_purpose'), hash: bytes }

/** Where a link of a purpose goes: a verification is of the address that the account is to have. */
const addressSql = (users: string) =>
  `case when $purpose = 'EMAIL_VERIFICATION' then coalesce(${users}.pending_email, ${users}.email) else ${users}.email end`

/**
 * The newest token of its purpose; a request that comes late changes nothing. One that is carried out again writes the
 * same token and its time begins anew, for nobody has had it in a mail before. No row: a newer or a used one stands, or the
 * account is locked or gone.
 */
export const upsertToken = statement(
  'one_time_token_issue',
  { parameters: { ...token, request: uuid, seconds: int }, columns: { email: text } },
  `insert into one_time_tokens as t (user_id, purpose, request_id, hash, email, expires_at)
   select id, $purpose, $request, $hash, ${addressSql('users')}, now() + make_interval(secs => $seconds)
   from users where id = $user and deleted_at is null and locked_at is null for share
   on conflict (user_id, purpose) do update set request_id = excluded.request_id, hash = excluded.hash,
     email = excluded.email, created_at = now(), expires_at = excluded.expires_at, used_at = null
   where excluded.request_id > t.request_id
     or (excluded.request_id = t.request_id and t.used_at is null and excluded.email = t.email)
   returning email`,
)

/**
 * Where a token's link was sent, as long as it can be used: not used, not expired, still for the account's
 * address, and the account not locked.
 */
export const findUsableToken = statement(
  'one_time_token_usable',
  { parameters: token, columns: { email: text, username: text } },
  `select t.email, u.username from one_time_tokens t join users u on u.id = t.user_id
   where t.user_id = $user and t.purpose = $purpose and t.hash = $hash and t.used_at is null
     and t.expires_at > now() and lower(${addressSql('u')}) = lower(t.email) and u.deleted_at is null
     and u.locked_at is null`,
)

/**
 * The part of a statement that uses a token up; it returns `user_id`. `held` is the part that holds the user's row, unless the
 * account is locked, with `id` and `email`, the address the link was to go to: whoever changes an account's credentials holds
 * that row first.
 */
export const spendTokenSql = ({ held, purpose, hash }: { held: string; purpose: string; hash: string }): string => `
  spent_token as (
    update one_time_tokens t set used_at = now() from ${held}
    where t.user_id = ${held}.id and t.purpose = '${purpose}' and t.hash = ${hash} and t.used_at is null
      and t.expires_at > clock_timestamp() and lower(t.email) = lower(${held}.email)
    returning t.user_id
  )`

/** The part of a statement that makes an account's tokens worthless. They stay, so that no older request replaces them. */
export const voidTokensSql = ({
  name = 'voided_tokens',
  from,
  purposes,
}: {
  name?: string
  from: string
  purposes: readonly string[]
}): string => `
  ${name} as (
    update one_time_tokens t set used_at = now() from ${from}
    where t.user_id = ${from}.id and t.purpose in (${purposes.map((purpose) => `'${purpose}'`).join(', ')})
      and t.used_at is null
  )`
