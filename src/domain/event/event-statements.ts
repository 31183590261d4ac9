import { statement } from '../ports.ts'

/** The newest position of feeds, each with its place among those that were asked for, from 1. */
export const findPositions = statement<{ position: number; sequence: number }>(
  'event_positions',
  `select asked.position::int, w.event_sequence as sequence
   from unnest($1::uuid[]) with ordinality as asked (user_id, position) join wallets w on w.user_id = asked.user_id`,
)
