import { boolean, int, orNull, type RowOf, statement, text, timestamp } from '../sql.ts'

const columns = {
  block_number: int,
  log_index: int,
  transaction_hash: text,
  recorder: text,
  /** The beginning of what it says; and bytes of all of it. */
  data: text,
  data_bytes: int,
  recorded_at: timestamp,
}
/** A commit to a file of ours that somebody else wrote. */
export type ForeignCommit = RowOf<typeof columns>

const bounds = {
  ...{ olderBlock: orNull(int), olderIndex: orNull(int), newerBlock: orNull(int), newerIndex: orNull(int) },
}
/** No block, and no place in one, comes so late. */
const BEYOND = 2 ** 31 - 1
const readSql = (direction: 'asc' | 'desc') => `
  select block_number, log_index, transaction_hash, recorder, data, data_bytes, recorded_at from foreign_commits
  where nid = $nid
    and (block_number, log_index) < (coalesce($olderBlock, ${BEYOND}), coalesce($olderIndex, ${BEYOND}))
    and (block_number, log_index) > (coalesce($newerBlock, -1), coalesce($newerIndex, -1))
  order by block_number ${direction}, log_index ${direction} limit $limit offset $offset`
const parameters = { nid: text, ...bounds, limit: int, offset: int }

/** Those to a file between two places, newest first. */
export const readForeignCommits = statement(
  'foreign_commits',
  { parameters, columns, isList: true, mayLag: true },
  readSql('desc'),
)
/** The same, oldest first: a page that is read backwards. */
export const readForeignCommitsUp = statement(
  'foreign_commits_up',
  { parameters, columns, isList: true, mayLag: true },
  readSql('asc'),
)

/** How many are kept of a file, and whether there were more. */
export const countForeignCommits = statement(
  'foreign_commits_count',
  { parameters: { nid: text }, columns: { count: int, is_cut: boolean }, mayLag: true },
  `select (select count(*)::int from foreign_commits where nid = $nid) as count,
     exists (select from watched_assets where nid = $nid and cut_at is not null) as is_cut`,
)
