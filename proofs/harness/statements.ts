/** The order of statements: line by line the times that the database told never run back. */

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

/** A sentence when a wallet tells a movement before one that happened earlier. */
export async function judgeStatements(database: ConnectedDatabase): Promise<string[]> {
  const lines = await database.query(findRunningBack)
  return lines.length ? [`${lines.length} lines of statements stand where they did not happen.`] : []
}
