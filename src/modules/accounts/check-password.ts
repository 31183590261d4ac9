/**
 * Checks passwords. An account allows five wrong guesses in 15 minutes, and an unknown address four. A guess reserves a slot
 * before the password is compared, and releases the slot if the password is correct. If no slot is free, the guess waits
 * for running comparisons. More guesses do not extend the window. A password reset ends the window.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Use } from '../../context.ts'
import { int, joinedStatement, statement, text, uuid } from '../../db/sql.ts'
import { throttled, validationFailed } from '../../shared/errors.ts'
import type { UserActor } from '../../shared/policy.ts'
import { toOpaqueString } from './account-input.ts'

const WINDOW_SECONDS = 900
const MAX_WRONG = 5
/** The last slot is for signed-in users, so that an attacker cannot prevent an owner from changing the password. */
const MAX_WRONG_ANONYMOUS = 4
const CHECK_INTERVAL_MS = 50
const MAX_WAIT_MS = 8_000
const RETRY_AFTER_SECONDS = 5

// The database computes the digest, because it also compares addresses with `lower`.
const digestSql = (subject: string) => `encode(sha256(convert_to(lower(${subject}), 'UTF8')), 'hex')`

/** SQL of the key in `limits` that counts wrong guesses and running comparisons. */
const reservedKeySql = (subject: string) => `'password-check:' || ${digestSql(subject)}`
const wrongKeySql = (subject: string) => `'password-wrong:' || ${digestSql(subject)}`

/** SQL of the key in `limits` that counts guesses at the account `user`. Deleting the row ends the window. */
export const passwordCheckKeySql = (user: string) => reservedKeySql(`'user:' || ${user}`)

/** Reserves a slot for a guess. No row: all `max` slots are used by wrong guesses and running comparisons. */
const reserveGuess = joinedStatement(
  'password_guess_reserve',
  { parameters: { subject: text, max: int }, columns: { window_end: text }, apart: ['subject'] },
  // Two spellings of one address may arrive together. Each key is counted once per statement.
  ({ item, place }) => `with ${item},
   guess as materialized (
     select distinct on (key) * from (select ${reservedKeySql('subject')} as key, item.* from item) as keyed
   ),
   reserved as (
     insert into limits as l (key, window_end, count)
       select key, now() + interval '${WINDOW_SECONDS} seconds', 1 from guess order by key
     on conflict (key) do update set count = case when l.window_end <= now() then 1 else l.count + 1 end,
       window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
     where l.window_end <= now() or l.count < (select g.max from guess g where g.key = l.key)
     returning key, window_end
   )
   select ${place} t.window_end::text as window_end from reserved t join guess using (key)`,
)

const countWrongGuesses = statement(
  'password_guess_find',
  { parameters: { subject: text }, columns: { wrong: int, retry_after: int } },
  `select coalesce(wrong.count, 0)::int as wrong, greatest(1, ceil(extract(epoch from reserved.window_end - now())))::int as retry_after
   from limits reserved left join limits wrong on wrong.key = ${wrongKeySql('$subject')} and wrong.window_end = reserved.window_end
   where reserved.key = ${reservedKeySql('$subject')} and reserved.window_end > now()`,
)

// `windowEnd` is text, because a `Date` would lose the microseconds.
const guess = { subject: text, windowEnd: text }

const releaseGuess = statement(
  'password_guess_release',
  { parameters: guess },
  `update limits set count = greatest(0, count - 1)
   where key = ${reservedKeySql('$subject')} and window_end = $windowEnd::timestamptz`,
)

const countWrongGuess = statement(
  'password_guess_wrong',
  { parameters: guess },
  `insert into limits as l (key, window_end, count) values (${wrongKeySql('$subject')}, $windowEnd::timestamptz, 1)
   on conflict (key) do update set window_end = excluded.window_end,
     count = case when l.window_end = excluded.window_end then l.count + 1 else 1 end`,
)

const findOwnPassword = statement(
  'password_own',
  { parameters: { user: uuid }, columns: { password_hash: text } },
  'select password_hash from users where id = $user and deleted_at is null',
)

/** Locks an account, so that the next statement of the transaction sees all sessions of earlier sign-ins. */
export const lockCredentials = statement(
  'password_lock',
  { parameters: { user: uuid }, columns: { id: uuid } },
  'select id from users where id = $user and deleted_at is null for no key update',
)

interface Guess {
  /** The account to check, or an address without an account. A check takes the same time for both. */
  account: { user: string; passwordHash: string } | { email: string }
  password: string
  isSignedIn: boolean
}

type PasswordContext = Use<'database' | 'passwords' | 'semaphores' | 'meter'>

/** Waits for a free slot and reserves it. Returns the end of the window. Throws THROTTLED. */
async function waitForSlot({ database, meter }: PasswordContext, subject: string, max: number): Promise<string> {
  for (const start = performance.now(); ; await delay(CHECK_INTERVAL_MS)) {
    const [reserved] = await database.query(reserveGuess, { subject, max })
    if (reserved) return reserved.window_end
    const [guesses] = await database.query(countWrongGuesses, { subject })
    const isFull = guesses !== undefined && guesses.wrong >= max
    if (!isFull && performance.now() - start <= MAX_WAIT_MS) continue
    meter.count('annal_limit_rejections_total', { limit: 'password-guesses' })
    const seconds = guesses?.retry_after ?? 1
    throw throttled(isFull ? seconds : Math.min(seconds, RETRY_AFTER_SECONDS))
  }
}

/** Returns true if the password is correct. Throws THROTTLED, UNAVAILABLE. */
export function checkPassword(context: PasswordContext, { account, password, isSignedIn }: Guess): Promise<boolean> {
  const subject = 'user' in account ? `user:${account.user}` : `address:${account.email}`
  const hash = 'user' in account ? account.passwordHash : undefined
  const compare = async () => {
    const windowEnd = await waitForSlot(context, subject, isSignedIn ? MAX_WRONG : MAX_WRONG_ANONYMOUS)
    let isWrong = false
    try {
      isWrong = !(await context.passwords.verify(hash, toOpaqueString(password)))
      return !isWrong
    } finally {
      // A comparison that failed with an error does not count as a guess.
      await context.database.query(isWrong ? countWrongGuess : releaseGuess, { subject, windowEnd })
    }
  }
  return context.semaphores.passwordGuesses(compare, { keys: [subject.toLowerCase()] })
}

export const wrongPassword = () => validationFailed({ currentPassword: ['Invalid password.'] })

export type OwnPasswordContext = PasswordContext & Use<'rateLimiter'>

/** Checks the password of a signed-in user, to protect the account if a session is stolen. Returns the stored hash. */
export async function checkOwnPassword(context: OwnPasswordContext, { id: user }: UserActor, password: string) {
  const { database, rateLimiter } = context
  const [account] = await database.query(findOwnPassword, { user })
  if (!account) throw wrongPassword()
  await rateLimiter.assertAvailable('own-password', user)
  const { password_hash: passwordHash } = account
  if (!(await checkPassword(context, { account: { user, passwordHash }, password, isSignedIn: true })))
    throw wrongPassword()
  // A wrong password counts as a guess only, so a stolen session cannot use up this limit.
  await rateLimiter.consume('own-password', user)
  return passwordHash
}
