import { int, joinedStatement, statement, text } from '../../db/sql.ts'

const NAME = 'password-check'
/** A quarter of an hour. */
const SECONDS = 900

/** Whose guesses are counted together: an account's, by UUID, or those at an address that leads to none. */
export const subjectOf = (whose: { user: string } | { email: string }) =>
  'user' in whose ? `user:${whose.user}` : `address:${whose.email}`

// Accounts are found by the database's `lower`. In another's spelling one address would have many digests.
const digestSql = (subject: string) => `encode(sha256(convert_to(lower(${subject}), 'UTF8')), 'hex')`

/** Guesses that were wrong, or are being looked at. */
const takenKeySql = (subject: string) => `'${NAME}:' || ${digestSql(subject)}`

/** Guesses that are known to have been wrong. */
const wrongKeySql = (subject: string) => `'password-wrong:' || ${digestSql(subject)}`

/** SQL for the key in `limits` of an account, whose UUID is an expression. To clear: delete its row. */
export const passwordCheckKeySql = (user: string) => takenKeySql(`'user:' || ${user}`)

/** A guess that may be looked at: `most` may be wrong or under way. No row: so many are. */
export const takeGuess = joinedStatement(
  'password_guess_take',
  { parameters: { subject: text, most: int }, columns: { window_end: text }, apart: ['subject'] },
  // Two spellings of one address may come together; one of them is served alone then.
  ({ item, place }) => `with ${item},
   guess as materialized (
     select distinct on (key) * from (select ${takenKeySql('subject')} as key, item.* from item) as keyed
   ),
   taken as (
     insert into limits as l (key, window_end, count)
       select key, now() + interval '${SECONDS} seconds', 1 from guess order by key
     on conflict (key) do update set count = case when l.window_end <= now() then 1 else l.count + 1 end,
       window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
     where l.window_end <= now() or l.count < (select g.most from guess g where g.key = l.key)
     returning key, window_end
   )
   select ${place} t.window_end::text as window_end from taken t join guess using (key)`,
)

/** How many guesses were wrong for certain, and the seconds until they are forgotten. */
export const findGuesses = statement(
  'password_guess_find',
  { parameters: { subject: text }, columns: { wrong: int, retry_after: int } },
  `select coalesce(wrong.count, 0)::int as wrong, greatest(1, ceil(extract(epoch from taken.window_end - now())))::int as retry_after
   from limits taken left join limits wrong on wrong.key = ${wrongKeySql('$subject')} and wrong.window_end = taken.window_end
   where taken.key = ${takenKeySql('$subject')} and taken.window_end > now()`,
)

/** The end of its window is what `takeGuess` told: text, because a `Date` would cut it to milliseconds. */
const guess = { subject: text, windowEnd: text }

/** It was right, or was not looked at. */
export const giveGuessBack = statement(
  'password_guess_back',
  { parameters: guess },
  `update limits set count = greatest(0, count - 1)
   where key = ${takenKeySql('$subject')} and window_end = $windowEnd::timestamptz`,
)

/** Counts a guess that was wrong for certain. */
export const noteWrongGuess = statement(
  'password_guess_wrong',
  { parameters: guess },
  `insert into limits as l (key, window_end, count) values (${wrongKeySql('$subject')}, $windowEnd::timestamptz, 1)
   on conflict (key) do update set window_end = excluded.window_end,
     count = case when l.window_end = excluded.window_end then l.count + 1 else 1 end`,
)
