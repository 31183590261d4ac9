import { statement } from '../ports.ts'

const NAME = 'password-check'
/** A quarter of an hour. */
const SECONDS = 900

// Accounts are found by the database's `lower`. In another's spelling one account would have many subjects.
const subjectSql = (email: string) => `encode(sha256(convert_to(lower(${email}), 'UTF8')), 'hex')`

/** SQL for the key in `limits` of an e-mail address, which is an expression of type text itself. To clear: delete its row. */
export const passwordCheckKeySql = (email: string) => `'${NAME}:' || ${subjectSql(email)}`

/** Guesses that are known to have been wrong; the other row counts also those that are being looked at. */
const wrongKeySql = (email: string) => `'password-wrong:' || ${subjectSql(email)}`

/** A guess that may be looked at: $1 address, $2 how many may be wrong or under way. No row: so many are. */
export const takeGuess = statement<{ window_end: string }>(
  'password_guess_take',
  `insert into limits as l (key, window_end, count)
   values (${passwordCheckKeySql('$1::text')}, now() + interval '${SECONDS} seconds', 1)
   on conflict (key) do update set count = case when l.window_end <= now() then 1 else l.count + 1 end,
     window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
   where l.window_end <= now() or l.count < $2::int
   returning window_end::text as window_end`,
)

/** How many guesses were wrong for certain, and the seconds until they are forgotten. */
export const findGuesses = statement<{ wrong: number; retry_after: number }>(
  'password_guess_find',
  `select coalesce(wrong.count, 0)::int as wrong, greatest(1, ceil(extract(epoch from taken.window_end - now())))::int as retry_after
   from limits taken left join limits wrong on wrong.key = ${wrongKeySql('$1::text')} and wrong.window_end = taken.window_end
   where taken.key = ${passwordCheckKeySql('$1::text')} and taken.window_end > now()`,
)

/** It was right, or was not looked at: $2 is what `takeGuess` told. */
export const giveGuessBack = statement<never>(
  'password_guess_back',
  `update limits set count = greatest(0, count - 1)
   where key = ${passwordCheckKeySql('$1::text')} and window_end = $2::timestamptz`,
)

export const noteWrongGuess = statement<never>(
  'password_guess_wrong',
  `insert into limits as l (key, window_end, count) values (${wrongKeySql('$1::text')}, $2::timestamptz, 1)
   on conflict (key) do update set window_end = excluded.window_end,
     count = case when l.window_end = excluded.window_end then l.count + 1 else 1 end`,
)
