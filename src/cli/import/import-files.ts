/** Registers many files with limited concurrency. Repeating an import neither registers nor charges twice. */
import { randomUUID } from 'node:crypto'
import { statuses } from '../../http/error-status.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { InterruptedError } from '../terminal.ts'
import { type ImportQuote, type ImportServer, RefusedError } from './server.ts'
import { forEach, type ImportRow, type InvalidRow } from './source.ts'

/**
 * Result of a row. `existing`: the account registered the file before, so it costs nothing. `pending`: not registered
 * yet.
 */
export type Outcome = { row: number; path: string } & (
  | { state: 'registered' | 'existing'; nid: string }
  | { state: 'failed'; code: string; message: string }
  | { state: 'pending' }
)

/** Cost of an import and the available balance, as decimal strings. */
export interface ImportCost extends ImportQuote {
  total: string
  missing: string
}

/** Returns the cost of these files. Identical files are charged once. */
export function costOf({ each, available }: ImportQuote, rows: readonly ImportRow[]): ImportCost {
  const files = new Set(rows.map(({ sha256 }) => sha256)).size
  const total = toUnits(each) * BigInt(files)
  const missing = total - toUnits(available)
  return { each, available, total: fromUnits(total), missing: fromUnits(missing > 0n ? missing : 0n) }
}

type Named = Pick<ImportRow, 'row' | 'path'>

export const pending = ({ row, path }: Named): Outcome => ({ row, path, state: 'pending' })

const failed = ({ row, path }: Named, { code, message }: { code: string; message: string }): Outcome => ({
  ...{ row, path, state: 'failed', code, message },
})

export const invalid = (row: InvalidRow): Outcome => failed(row, { code: 'not_sent', message: row.problem })

/** Separates files that are already registered. `registered` maps SHA-256 hashes to nids. */
export function separate(rows: readonly ImportRow[], registered: ReadonlyMap<string, string>) {
  const existing = rows.flatMap(({ row, path, sha256 }): Outcome[] => {
    const nid = registered.get(sha256)
    return nid === undefined ? [] : [{ row, path, state: 'existing', nid }]
  })
  return { existing, open: rows.filter(({ sha256 }) => !registered.has(sha256)) }
}

interface ImportOptions {
  server: ImportServer
  /** Maximum cost of one registration, as a decimal string. */
  maxCost: string
  concurrency: number
  /** Called with the number of completed rows. */
  done: (count: number) => void
}

/** Validates the metadata of each row on the server, without sending files. Throws RefusedError. */
export async function validateRows(
  rows: readonly ImportRow[],
  { server, concurrency, done }: Omit<ImportOptions, 'maxCost'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  await forEach(rows, concurrency, async (row) => {
    const problem = Object.keys(row.fields).length ? await server.validate(row) : undefined
    outcomes.push(problem ? failed(row, problem) : pending(row))
    done(outcomes.length)
  })
  return outcomes
}

const typeOf = (code: ErrorCode) => statuses[code].type
/** Errors that affect a single row. All other errors stop the import. */
const rowErrors = new Set([
  ...(['DUPLICATE_ASSET', 'INTERNAL', 'PARSE_ERROR', 'PAYLOAD_TOO_LARGE', 'VALIDATION_FAILED'] as const).map(typeOf),
  ...['damaged', 'not_sent'],
])

/** Registers rows. `stopped`: reason why the import stopped early, or null. */
export async function registerRows(
  rows: readonly ImportRow[],
  { server, maxCost, concurrency, done }: ImportOptions,
): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
  const importId = randomUUID()
  const outcomes = new Map<ImportRow, Outcome>()

  async function afterError(row: ImportRow, error: RefusedError): Promise<Outcome> {
    if (error.code === typeOf('DUPLICATE_ASSET')) {
      // An interrupted import may have registered the file without receiving the response.
      const nid = (await server.findRegistered(new Set([row.sha256]))).get(row.sha256)
      if (nid !== undefined) return { row: row.row, path: row.path, state: 'existing', nid }
    }
    return failed(row, error)
  }

  async function register(row: ImportRow): Promise<Outcome> {
    try {
      const nid = await server.register(row, maxCost, `annal-import ${importId} ${row.row}`)
      return { row: row.row, path: row.path, state: 'registered', nid }
    } catch (error) {
      if (error instanceof RefusedError && rowErrors.has(error.code)) return afterError(row, error)
      throw error
    }
  }

  let stopped: string | null = null
  try {
    await forEach(rows, concurrency, async (row) => {
      outcomes.set(row, await register(row))
      done(outcomes.size)
    })
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof InterruptedError)) throw error
    stopped = error.message
  }
  return { outcomes: rows.map((row) => outcomes.get(row) ?? pending(row)), stopped }
}
