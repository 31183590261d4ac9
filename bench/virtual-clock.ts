/** A clock of the database that a program moves on: a year passes in minutes, and every statement and default of the service goes by it. */
import pg from 'pg'

/** Functions of the time, as `clock` has them. `uuidv7()` too: identifiers are sortable by time. */
const clockSql = `
  create schema clock;
  create table clock.shift (by interval not null);
  insert into clock.shift values ('0');
  create function clock.now() returns timestamptz language sql stable as
    'select pg_catalog.now() + (select by from clock.shift)';
  create function clock.clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() + (select by from clock.shift)';
  create function clock.uuidv7() returns uuid language sql volatile as
    'select pg_catalog.uuidv7((select by from clock.shift))';
  create function clock.uuidv7(by interval) returns uuid language sql volatile as
    'select pg_catalog.uuidv7((select s.by from clock.shift s) + $1)'`

/** Defaults were bound to the real functions when their tables were made. */
const defaultsSql = `
  do $$ declare found record; begin
    for found in
      select d.adrelid::regclass as relation, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as told
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
        join pg_class c on c.oid = d.adrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'jobs') and pg_get_expr(d.adbin, d.adrelid) ~ '(CURRENT_TIMESTAMP|now\\(\\)|clock_timestamp\\(\\)|uuidv7\\(\\))'
    loop
      execute format('alter table %s alter column %I set default %s', found.relation, found.name,
        regexp_replace(replace(found.told, 'CURRENT_TIMESTAMP', 'now()'), '\\m(now|clock_timestamp|uuidv7)\\(\\)', 'clock.\\1()', 'g'));
    end loop;
  end $$`

/** Sessions look for functions in \`clock\` first. Sessions that are open already go by the real time. */
export async function installClock(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(clockSql)
    await client.query(defaultsSql)
    await client.query(
      `do $$ begin execute format('alter database %I set search_path = clock, pg_catalog, public', current_database()); end $$`,
    )
  } finally {
    await client.end()
  }
}

/** The clock of the queue, which goes by a function of its own. To be said again when the queue was installed anew. */
export const queueClockSql = `create or replace function jobs.job_now() returns timestamptz language sql stable as 'select clock.now()'`

/** Moves the clock on. What processes hold by the real time, their leases, they go on holding. */
export const passSql = (interval: string): string => `
  with passed as (update clock.shift set by = by + interval '${interval}' returning 1)
  update leases set expires_at = expires_at + interval '${interval}' from passed`
