/**
 * Notes every write of a relay's session that does not hold the lease it writes under at that very moment. In the same
 * transaction, so that it sees what the write sees.
 */
import { statement, text } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'

const install = [
  'create table proof_unfenced (at timestamptz default clock_timestamp(), session text, what text)',
  `create function proof_witness() returns trigger language plpgsql as $$
    declare
      session text := current_setting('application_name');
      lane text := to_jsonb(new)->>'lane';
    begin
      if session like 'annal relay %' and not exists (
        select from leases where 'annal relay ' || holder::text = session and expires_at > clock_timestamp()
          and (name = 'relay:' || lane or name = 'relay:prepare' or (lane is null and name like 'relay:%'))
      ) then
        insert into proof_unfenced (session, what) values (session, tg_table_name || ' ' || to_jsonb(new)::text);
      end if;
      return new;
    end $$`,
  ...['commit_relays', 'chain_transactions'].map(
    (table) =>
      `create trigger proof_witness after insert or update on ${table} for each row execute function proof_witness()`,
  ),
].map((words, index) => statement(`proof_lease_witness_${index}`, {}, words))

const findUnfenced = statement(
  'proof_unfenced',
  { columns: { session: text, what: text } },
  'select session, what from proof_unfenced order by at',
)

export const installWitness = async (database: ConnectedDatabase) => {
  for (const each of install) await database.query(each)
}

export const readUnfenced = (database: ConnectedDatabase) => database.query(findUnfenced)
