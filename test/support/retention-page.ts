import { readFileSync } from 'node:fs'

/** A row: the retention period, and the job that deletes the rows, or the reason for keeping them. */
export type Retention = { kept: string; reason: string }

const page = readFileSync(new URL('../../docs/reference/retention.md', import.meta.url), 'utf8')
const [, tables = '', files = ''] = page.split(/^## /m)

const rowsOf = (section: string) =>
  new Map(
    section.split('\n').flatMap((line): [string, Retention][] => {
      const [, name = '', kept = '', reason = ''] = line.split('|').map((cell) => cell.trim())
      return name.startsWith('`') ? [[name.slice(1, -1), { kept, reason }]] : []
    }),
  )

export const tableRetentions: ReadonlyMap<string, Retention> = rowsOf(tables)
/** Retention of the files below `ANNAL_DIR`, by name. */
export const fileRetentions: ReadonlyMap<string, Retention> = rowsOf(files)
