/**
 * Places that processes hold of limits on what is open at once, such as streams: each tells how many it holds of a subject, for a
 * minute, and says so again before that is over. So what a process held that was killed is free a minute later.
 */
import { randomUUID } from 'node:crypto'
import type { Database } from '../ports/database.ts'
import { arrayOf, float, int, statement, text, uuid } from '../sql.ts'

/** Seconds that a word holds. */
const HELD_SECONDS = 60

/** How many the process holds of these subjects, in pairs; and what nobody has spoken of for long is forgotten. */
const hold = statement(
  'held_places_hold',
  { parameters: { process: uuid, subjects: arrayOf(text), counts: arrayOf(int), seconds: float } },
  `with forgotten as (delete from held_places where until < now() - interval '1 hour')
   insert into held_places (subject, process_id, count, until)
   select subject, $process, count, now() + make_interval(secs => $seconds)
   from unnest($subjects, $counts) as item (subject, count) order by subject
   on conflict (subject, process_id) do update set count = excluded.count, until = excluded.until`,
)

/** What the other processes hold of each of these subjects. */
const readOthers = statement(
  'held_places_others',
  { parameters: { process: uuid, subjects: arrayOf(text) }, columns: { subject: text, count: int } },
  `select subject, sum(count)::int as count from held_places
   where subject = any ($subjects) and process_id <> $process and until > now() group by subject`,
)

/** How many places this process holds of each subject. */
export type Held = ReadonlyMap<string, number>

/** What processes tell each other about places. */
export interface HeldPlaces {
  /** Tells what this process holds of these subjects; what `held` lacks is 0. Raises UNAVAILABLE. */
  tell(subjects: readonly string[], held: Held): Promise<void>
  /** What others hold of them. Raises UNAVAILABLE. */
  readOthers(subjects: readonly string[]): Promise<Held>
}

/** Places of this process, in the table `held_places`. */
export function createHeldPlaces({ database }: { database: Pick<Database, 'query'> }): HeldPlaces {
  const process = randomUUID()
  /** One word after the other, each with what is held then: an older one must not come last. */
  let last: Promise<unknown> = Promise.resolve()

  async function say(subjects: readonly string[], held: Held) {
    const counts = subjects.map((subject) => held.get(subject) ?? 0)
    await database.query(hold, { process, subjects: [...subjects], counts, seconds: HELD_SECONDS })
  }

  return {
    tell(subjects, held) {
      const told = last.then(() => say(subjects, held))
      last = told.catch(() => {})
      return told
    },
    async readOthers(subjects) {
      const rows = await database.query(readOthers, { process, subjects: [...subjects] })
      return new Map(rows.map(({ subject, count }) => [subject, count]))
    },
  }
}
