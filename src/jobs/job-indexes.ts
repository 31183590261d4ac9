/**
 * Indexes of ours on pg-boss's own table. A job that was given up stays there for a year as a dead letter, and what is looked for among these is
 * found without reading all of them. Of what is done the indexes hold nothing.
 */
import { lockForTransaction } from '../db/migration-lock.ts'
import { holdsMoreSql } from './jobs.sql.ts'

const isDead = `name = 'dead-letter'`

/** By their names: of which columns they are, and of which jobs. */
const indexes: Record<string, { columns: string; of: string }> = {
  dead_letters_newest_idx: { columns: 'created_on desc, id desc', of: isDead },
  dead_letters_queue_idx: { columns: 'source_name', of: isDead },
  dead_letters_unredacted_idx: { columns: 'id', of: `${isDead} and ${holdsMoreSql}` },
  dead_letters_addressed_idx: { columns: `(data->>'userId')`, of: `${isDead} and data ?| array['email', 'newEmail']` },
  waiting_jobs_of_lane_idx: { columns: 'name, group_id', of: `state < 'active' and group_id is not null` },
  active_jobs_idx: { columns: 'name', of: `state = 'active'` },
}

const create = ([name, { columns, of }]: [string, (typeof indexes)[string]]) => `
    IF to_regclass('jobs.${name}') IS NULL THEN
      CREATE INDEX ${name} ON jobs.job (${columns}) WHERE ${of};
    END IF;`

/** SQL that makes what is not there yet. Nothing is put on a queue meanwhile: some two seconds for a million jobs. */
export const jobIndexesSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(indexes).map(create).join('')}
  END $install$`
