/** Order of wallet statements: the timestamps of consecutive lines never decrease. */

import type { ConnectedDatabase } from '../../src/db/database.ts'
import { statement, uuid } from '../../src/db/sql.ts'

const findRunningBack = statement(
  'proof_running_back',
  { columns: { id: uuid } },
  `select id from (
     select t.id, t.created_at < lag(t.created_at) over (partition by line.wallet_id order by t.id) as is_back
     from (select distinct wallet_id, transfer_id from entries where wallet_id is not null) line
       join transfers t on t.id = line.transfer_id
   ) lines where is_back`,
)

/** Returns a message if a wallet statement lists a transfer before an earlier one. */
export async function judgeStatements(database: ConnectedDatabase): Promise<string[]> {
  const lines = await database.query(findRunningBack)
  return lines.length ? [`${lines.length} lines of statements stand where they did not happen.`] : []
}
