/** What histories say of an asset at one of its commits. Each is found in a few steps, however long the history is. */
import { arrayOf, int, jsonb, orNull, statement, text, timestamp, uuid } from '../sql.ts'
import { customField } from './metadata.ts'

/** The place of the newest commit. */
export const findHead = statement(
  'version_head',
  { parameters: { asset: uuid }, columns: { sequence: int } },
  'select head_sequence as sequence from assets where id = $asset',
)

/** The place of a commit in the history of its asset. */
export const findPlace = statement(
  'version_place',
  { parameters: { asset: uuid, commit: uuid }, columns: { sequence: int } },
  'select sequence from commits where id = $commit and asset_id = $asset',
)

/**
 * The newest commit up to a time; 0 when the asset was uploaded later. The first one holds from the upload on, whose time is
 * read before it is written. Times grow with sequences, which have no gaps.
 */
export const findPlaceAt = statement(
  'version_place_at',
  { parameters: { asset: uuid, time: timestamp }, columns: { sequence: int } },
  `with recursive search as (
     select case when uploaded_at <= $time then 1 else 0 end as low, head_sequence as high from assets where id = $asset
     union all
     select case when c.created_at <= $time then c.sequence else low end,
       case when c.created_at <= $time then high else c.sequence - 1 end
     from search join commits c on c.asset_id = $asset and c.sequence = (low + high + 1) / 2
     where low < high
   )
   select low as sequence from search where low = high`,
)

/** Sequences of commits by field, and of custom fields by key. */
export type Blame = Record<string, number | Record<string, number>>

/** `said`: of each field but the custom ones what it was set to, by the names that changes have. */
export const readVersions = statement(
  'versions_read',
  {
    parameters: { asset: uuid, sequences: arrayOf(int) },
    columns: {
      id: uuid,
      sequence: int,
      created_at: timestamp,
      tree: text,
      blame: jsonb<Blame>(),
      said: orNull(jsonb<Record<string, unknown>>()),
    },
  },
  `select c.id, c.sequence, c.created_at, c.tree, c.blame,
     (
       select jsonb_object_agg(set.field, (
         -- One by one: joined, the planner may read the whole history, which it thinks is short.
         select setter.changes -> set.field -> 1 from commits setter
         where setter.asset_id = c.asset_id and setter.sequence = set.sequence::int))
       from jsonb_each(c.blame - '${customField.changeName}') set (field, sequence)
     ) as said
   from commits c where c.asset_id = $asset and c.sequence = any ($sequences)`,
)
