import { statement, text } from '../../db/sql.ts'

/** The nids of the oldest and the newest files, 100 at most. A store that has none of them is not this installation's. */
export const findSampleFiles = statement(
  'asset_sample_files',
  { parameters: {}, columns: { nid: text } },
  `(select nid from assets where deleted_at is null order by id limit 50)
   union
   (select nid from assets where deleted_at is null order by id desc limit 50)`,
)
