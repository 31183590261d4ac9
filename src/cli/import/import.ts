/** Registers many files, a few at once, so that however often it is begun again nothing is registered or paid for twice. */
import { randomUUID } from 'node:crypto'
import { statuses } from '../../http/error-status.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { InterruptedError } from '../terminal.ts'
import { type BadRow, forEach, type ImportRow } from './files.ts'
import { type ImportQuote, type ImportServer, RefusedError } from './server.ts'

/** What came of a row. `before`: the account had registered the file already, and nothing was paid. `left`: it was not its turn. */
export type Outcome = { row: number; path: string } & (
  | { state: 'registered' | 'before'; nid: string }
  | { state: 'failed'; code: string; message: string }
  | { state: 'left' }
)

/** What an import costs, and what there is. Decimal strings. */
export interface ImportCost extends ImportQuote {
  total: string
  missing: string
}

/** What it costs to register these files; one that is named twice is paid for once. */
export function costOf({ each, available }: ImportQuote, rows: readonly ImportRow[]): ImportCost {
  const files = new Set(rows.map(({ sha256 }) => sha256)).size
  const total = toUnits(each) * BigInt(files)
  const missing = total - toUnits(available)
  return { each, available, total: fromUnits(total), missing: fromUnits(missing > 0n ? missing : 0n) }
}

/** Why nothing of it is begun; null when the wallet can pay for all of it. */
export const refusalOf = ({ total, available, missing }: ImportCost): string | null =>
  missing === '0'
    ? null
    : `It costs ${total}, and the wallet holds ${available}: ${missing} are missing. Top it up, or register fewer by --limit.`

type Named = Pick<ImportRow, 'row' | 'path'>
const nameOf = ({ row, path }: Named) => ({ row, path })

/** The outcome of a row that is left for another time. */
export const leave = (row: ImportRow): Outcome => ({ ...nameOf(row), state: 'left' })

const refuse = (row: Named, { code, message }: { code: string; message: string }): Outcome => ({
  ...nameOf(row),
  ...{ state: 'failed', code, message },
})

/** The outcome of a row that cannot be sent. */
export const reject = (row: BadRow): Outcome => refuse(row, { code: 'not_sent', message: row.problem })

/** Rows whose file is registered, as their outcomes, and the others. */
export function divide(rows: readonly ImportRow[], registered: ReadonlyMap<string, string>) {
  const before = rows.flatMap((row): Outcome[] => {
    const nid = registered.get(row.sha256)
    return nid === undefined ? [] : [{ ...nameOf(row), state: 'before', nid }]
  })
  return { before, open: rows.filter(({ sha256 }) => !registered.has(sha256)) }
}

const typeOf = (code: ErrorCode) => statuses[code].type
/** Refusals of one row: the next one may fare better. Whatever else is refused ends the import. */
const rowCodes = new Set([
  ...(['DUPLICATE_ASSET', 'INTERNAL', 'PARSE_ERROR', 'PAYLOAD_TOO_LARGE', 'VALIDATION_FAILED'] as const).map(typeOf),
  ...['damaged', 'not_sent'],
])

/** Has the server look at what each row says; the files stay here. `done`: told how many were looked at. Raises RefusedError. */
export async function judgeRows(
  rows: readonly ImportRow[],
  { server, atOnce, done }: Omit<ImportParts, 'each'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  await forEach(rows, atOnce, async (row) => {
    const problem = Object.keys(row.fields).length ? await server.judge(row) : undefined
    outcomes.push(problem ? refuse(row, problem) : leave(row))
    done(outcomes.length)
  })
  return outcomes
}

/** What an import works with. */
export interface ImportParts {
  server: ImportServer
  /** What one registration may cost. */
  each: string
  /** How many are sent at once. */
  atOnce: number
  /** Told how many rows are done with. */
  done: (count: number) => void
}

/**
 * Registers rows. Tells what came of each, and why it stopped before the end; null when it did not. An answer that got lost is asked for
 * again by the key of its request; what an earlier import sent and never heard of, the server refuses as a file that is registered.
 */
export async function importRows(
  rows: readonly ImportRow[],
  { server, each, atOnce, done }: ImportParts,
): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
  const run = randomUUID()
  const outcomes = new Map<ImportRow, Outcome>()

  async function whenRefused(row: ImportRow, refused: RefusedError): Promise<Outcome> {
    if (refused.code === typeOf('DUPLICATE_ASSET')) {
      const nid = (await server.findRegistered(new Set([row.sha256]))).get(row.sha256)
      if (nid !== undefined) return { ...nameOf(row), state: 'before', nid }
    }
    return refuse(row, refused)
  }

  async function register(row: ImportRow): Promise<Outcome> {
    try {
      const nid = await server.register(row, each, `annal-import ${run} ${row.row}`)
      return { ...nameOf(row), state: 'registered', nid }
    } catch (error) {
      if (error instanceof RefusedError && rowCodes.has(error.code)) return whenRefused(row, error)
      throw error
    }
  }

  let stopped: string | null = null
  try {
    await forEach(rows, atOnce, async (row) => {
      outcomes.set(row, await register(row))
      done(outcomes.size)
    })
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof InterruptedError)) throw error
    stopped = error.message
  }
  return { outcomes: rows.map((row) => outcomes.get(row) ?? leave(row)), stopped }
}
