/**
 * What is read and written of commits by others: the files that are watched for, where the reading stands, and what was found. All of it
 * is written under the lease of the process that reads.
 */
import { settingKeys } from '../../domain/settings.ts'
import { arrayOf, boolean, int, orNull, type RowOf, statement, text, timestamp } from '../../domain/sql.ts'

/** The name under which it is remembered up to where a registry was read. */
export const placeOf = (chainId: number, registry: string): string =>
  `${settingKeys.foreignCommits}${chainId}:${registry}`

/** Where the newest block is told, for an operator. */
const HEAD = `'${settingKeys.foreignHead}'`
/** Where an operator says from which block on everything is to be read again. */
const AGAIN = `'${settingKeys.foreignAgain}'`
/** Commits of others that are kept of one file: whoever writes more is not heard. */
const KEPT_OF_ONE = 1_000

/** Up to where a registry was read, and from which block an operator wants it read again. */
export const findForeignPlace = statement(
  'foreign_place',
  { parameters: { place: text }, columns: { trail: orNull(text), again: orNull(int) } },
  `select (select value from settings where key = $place) as trail,
     (select value::int from settings where key = ${AGAIN}) as again`,
)

/** A page in the order of nids. */
const page = { after: text, limit: int }
/** The last nid of a page; null where it was empty. */
const pageColumns = { last: orNull(text) }
const pageSql = (columns: string) => `
   page as materialized (select ${columns} from watched_assets where nid > $after order by nid limit $limit)`
const lastSql = '(select max(nid) from page) as last'

/** Watches what is registered and is not watched yet. A page of all files. */
export const watchAssets = statement(
  'foreign_watch',
  { parameters: page, columns: pageColumns },
  `with page as materialized (
     select nid from assets where deleted_at is null and nid > $after order by nid limit $limit
   ),
   watched as (
     insert into watched_assets (nid)
     select nid from page where not exists (select from watched_assets w where w.nid = page.nid) on conflict do nothing
   )
   select ${lastSql}`,
)

/**
 * Watches no longer what was deleted. Commits that became ours to know as our own (an account that was not known as one of ours) are not
 * told of any more. A page of what is watched.
 */
export const unwatchAssets = statement(
  'foreign_unwatch',
  { parameters: { ...page, own: arrayOf(text) }, columns: pageColumns },
  `with ${pageSql('nid')},
   own_commits as (delete from foreign_commits f using page where f.nid = page.nid and f.recorder = any ($own)),
   deleted as (
     delete from watched_assets w using page
     where w.nid = page.nid and not exists (select from assets a where a.nid = w.nid and a.deleted_at is null)
   )
   select ${lastSql}`,
)

/** Files whose topics are still to be worked out. */
export const findUnnamed = statement(
  'foreign_unnamed',
  { parameters: { limit: int }, columns: { nid: text } },
  'select nid from watched_assets where topic is null order by nid limit $limit',
)

/**
 * From here on they are found in what is read; what is behind is their past. `isFirst`: there is nothing behind. Each is looked up by its key: where
 * none had no topic when they were counted last, the planner would read all that have none.
 */
export const nameAssets = statement(
  'foreign_name',
  { parameters: { nids: arrayOf(text), topics: arrayOf(text), pastTo: int, isFirst: boolean } },
  `update watched_assets w set topic = item.topic, past_to = $pastTo, past_read = w.past_read or $isFirst
   from unnest($nids, $topics) as item (nid, topic) where w.nid = item.nid and coalesce(w.topic, '') = ''`,
)

/** The files that these topics are of. */
export const findByTopics = statement(
  'foreign_by_topics',
  { parameters: { topics: arrayOf(text) }, columns: { nid: text, topic: text } },
  `select nid, topic from watched_assets where topic = any ($topics)`,
)

/** Which of these accounts carried commits of ours, and which transactions we signed. */
export const findOurs = statement(
  'foreign_ours',
  { parameters: { recorders: arrayOf(text), hashes: arrayOf(text) }, columns: { own: text } },
  `select item.recorder as own from unnest($recorders) as item (recorder)
   -- By the index of lanes alone, which the order asks for: where one account carried nearly all, the planner would read all for a stranger.
   where (select true from commit_relays r where r.lane = item.recorder order by r.lane, r.nonce limit 1)
   union all select hash from chain_transactions where hash = any ($hashes)`,
)

const found = {
  nids: arrayOf(text),
  blockNumbers: arrayOf(int),
  logIndexes: arrayOf(int),
  blockHashes: arrayOf(text),
  hashes: arrayOf(text),
  recorders: arrayOf(text),
  data: arrayOf(text),
  dataBytes: arrayOf(int),
  times: arrayOf(timestamp),
}
/** Of each file the first ones: what comes after is told of by `cut_at`. */
const keepSql = `found_commits as (
     select item.*, (select count(*) from foreign_commits f where f.nid = item.nid)
       + row_number() over (partition by item.nid order by item.block_number, item.log_index) as place
     from unnest($nids, $blockNumbers, $logIndexes, $blockHashes, $hashes, $recorders, $data, $dataBytes, $times)
       as item (nid, block_number, log_index, block_hash, transaction_hash, recorder, data, data_bytes, recorded_at)
     where exists (select from watched_assets w where w.nid = item.nid)
       and not exists (
         select from foreign_commits f where f.block_number = item.block_number and f.log_index = item.log_index)
   ),
   kept_commits as (
     insert into foreign_commits (nid, block_number, log_index, block_hash, transaction_hash, recorder, data, data_bytes, recorded_at)
     select nid, block_number, log_index, block_hash, transaction_hash, recorder, data, data_bytes, recorded_at
     from found_commits where place <= ${KEPT_OF_ONE}
     on conflict do nothing
   ),
   cut as (select nid, min(block_number) as block_number from found_commits where place > ${KEPT_OF_ONE} group by nid)`

const rememberSql = `placed as (
     insert into settings (key, value) values ($place, $trail) on conflict (key) do update set value = excluded.value
   ),
   told as (
     insert into settings (key, value) values (${HEAD}, $head::text) on conflict (key) do update set value = excluded.value
   )`

/** What a stretch of blocks had, and that it was read. `head`: the newest block. */
export const noteRead = statement(
  'foreign_note',
  { parameters: { place: text, trail: text, head: int, ...found } },
  `with ${rememberSql}, ${keepSql}
   update watched_assets w set cut_at = least(w.cut_at, cut.block_number) from cut where cut.nid = w.nid`,
)

/** A part of a file's past, and from where on it is still to be read; from nowhere when it is read to its end. */
export const notePast = statement(
  'foreign_note_past',
  { parameters: { nid: text, from: orNull(int), ...found } },
  `with ${keepSql}
   update watched_assets w set past_read = $from is null, past_from = coalesce($from, w.past_from), attempts = 0, last_error = null,
     cut_at = least(w.cut_at, (select cut.block_number from cut where cut.nid = w.nid))
   where w.nid = $nid`,
)

/** Nobody has committed to these files before they were watched. */
export const notePastEmpty = statement(
  'foreign_past_empty',
  { parameters: { nids: arrayOf(text) } },
  'update watched_assets set past_read = true, attempts = 0, last_error = null where nid = any ($nids)',
)

const unreadColumns = { nid: text, topic: text, past_from: int, past_to: int }
/** A file whose past is to be read, and between which blocks. */
export type UnreadPast = RowOf<typeof unreadColumns>

/** Files whose past is to be read now. */
export const findUnreadPast = statement(
  'foreign_unread',
  { parameters: { limit: int }, columns: unreadColumns },
  `select nid, topic, past_from, past_to from watched_assets
   where not past_read and next_attempt_at <= now() and topic is not null order by next_attempt_at limit $limit`,
)

/** The past of this file rests for 5 seconds, then twice as long each time, up to an hour. */
export const postponePast = statement(
  'foreign_postpone',
  { parameters: { nid: text, lastError: text } },
  `update watched_assets set attempts = attempts + 1, last_error = $lastError,
     next_attempt_at = now() + least(5 * 2 ^ least(attempts, 20), 3600) * interval '1 second'
   where nid = $nid and not past_read`,
)

/** What was found above `height` is forgotten, so much at once. */
export const forgetAbove = statement(
  'foreign_forget',
  { parameters: { height: int, limit: int }, columns: { count: int } },
  `with page as materialized (
     select block_number, log_index from foreign_commits where block_number > $height order by block_number, log_index limit $limit
   ),
   forgotten as (
     delete from foreign_commits f using page where (f.block_number, f.log_index) = (page.block_number, page.log_index)
   )
   select count(*)::int as count from page`,
)

/** The chain has no blocks above `height` that were read: what a page of files had there is found anew where it is. */
export const lowerPasts = statement(
  'foreign_lower',
  { parameters: { ...page, height: int }, columns: pageColumns },
  `with ${pageSql('nid')},
   lowered as (
     update watched_assets w set past_to = least(w.past_to, $height), cut_at = case when w.cut_at <= $height then w.cut_at end
     from page where w.nid = page.nid and (w.past_to > $height or w.cut_at > $height)
   )
   select ${lastSql}`,
)

/**
 * What is up to a block is the past of each file, for a page of files. `isFirst`: there is nothing up to it. A file that stands there already
 * is not written.
 */
export const beginPasts = statement(
  'foreign_begin',
  { parameters: { ...page, pastTo: int, isFirst: boolean }, columns: pageColumns },
  `with ${pageSql('nid, case when topic is not null then $pastTo end as past_to, topic is not null and $isFirst as past_read')},
   begun as (
     update watched_assets w set past_to = page.past_to, past_from = 0, past_read = page.past_read, cut_at = null, attempts = 0,
       next_attempt_at = now(), last_error = null
     from page
     where page.nid = w.nid
       and (w.past_to, w.past_from, w.past_read, w.cut_at, w.attempts) is distinct from (page.past_to, 0, page.past_read, null, 0)
   )
   select ${lastSql}`,
)

/** A registry is read from the beginning, whatever was read of it. */
export const leavePlace = statement(
  'foreign_leave',
  { parameters: { place: text } },
  'delete from settings where key = $place',
)

/** Where reading goes on, once all that depends on it is written. It answers who wanted it from the block `from` on or from a later one. */
export const goOnAt = statement(
  'foreign_go_on',
  { parameters: { place: text, trail: text, head: int, from: int } },
  `with ${rememberSql}
   delete from settings where key = ${AGAIN} and value::int >= $from`,
)

/** Has everything from this block on read again, or from an earlier one that is wanted already. */
export const readAgain = statement(
  'foreign_again',
  { parameters: { from: int } },
  `insert into settings as s (key, value) values (${AGAIN}, $from::text)
   on conflict (key) do update set value = least(s.value::int, excluded.value::int)::text`,
)

const stateColumns = {
  /** The last block that was read; null before the first look. */
  block: orNull(int),
  /** The newest block when it was last looked at. */
  head: orNull(int),
  /** Files that are watched for, and those whose past is still to be read. */
  watched: int,
  unread: int,
  /** Commits of others. */
  commits: int,
  again: boolean,
}

/** For the operator: how far the reading is, and what it has found. */
export const readForeignState = statement(
  'foreign_state',
  { columns: stateColumns },
  `select (select max((value::json -> 0 ->> 0)::int) from settings where key like '${settingKeys.foreignCommits}%') as block,
     (select value::int from settings where key = ${HEAD}) as head,
     (select count(*)::int from watched_assets) as watched,
     (select count(*)::int from watched_assets where not past_read) as unread,
     (select count(*)::int from foreign_commits) as commits,
     exists (select from settings where key = ${AGAIN}) as again`,
)

/** For the operator: files whose past could not be read yet, longest tried first. */
export const findRestingPasts = statement(
  'foreign_resting',
  { columns: { nid: text, attempts: int, next_attempt_at: timestamp, last_error: text } },
  `select nid, attempts, next_attempt_at, last_error from watched_assets
   where not past_read and last_error is not null order by attempts desc, nid limit 200`,
)

/** For the operator: files whose past is read from the log, block after block, and how far. */
export const findReadingPasts = statement(
  'foreign_reading',
  { columns: { nid: text, from: int, to: int } },
  `select nid, past_from as "from", past_to as "to" from watched_assets
   where not past_read and past_from > 0 and past_to is not null order by nid limit 200`,
)

/** For the operator: who wrote how much, most first. */
export const countByRecorder = statement(
  'foreign_recorders',
  { columns: { recorder: text, commits: int, assets: int } },
  `select recorder, count(*)::int as commits, count(distinct nid)::int as assets from foreign_commits
   group by recorder order by commits desc, recorder limit 20`,
)
