/**
 * Additional indexes on pg-boss's job table. Dead letters stay there for a year, and these indexes find them without
 * a full scan. The indexes exclude completed jobs.
 */
import { lockForTransaction } from '../db/migration-lock.ts'
import { holdsMoreSql } from './jobs.sql.ts'

const isDead = `name = 'dead-letter'`

/** Indexes by name: their columns and their condition. */
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

/** SQL that creates missing indexes. It blocks new jobs meanwhile, for about two seconds per million jobs. */
export const jobIndexesSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(indexes).map(create).join('')}
  END $install$`
