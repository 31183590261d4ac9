/** Command `import`. Repeating an import neither registers nor charges twice. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { statuses } from '../../http/error-status.ts'
import { forEachConcurrent } from '../../shared/async.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { command } from '../command.ts'
import * as out from '../terminal.ts'
import { createProgress, type Progress } from '../terminal.ts'
import { localUrl } from '../with-infrastructure.ts'
import { createImportServer, createRetry, type ImportQuote, type ImportServer, RefusedError } from './import-server.ts'
import { examineFiles, type ImportRow, readSource } from './import-source.ts'

interface ImportFlags {
  files?: string
  url?: string
  tokenFile?: string
  concurrency: string
  limit?: string
  dryRun?: true
  json?: true
}

/** Result of a row. `existing`: the account registered the file before, so it costs nothing. `pending`: not registered yet. */
type Outcome = { row: number; path: string } & (
  | { state: 'registered' | 'existing'; nid: string }
  | { state: 'failed'; code: string; message: string }
  | { state: 'pending' }
)

interface Report {
  account: string
  /** Cost of the import and the available balance, as decimal strings. */
  cost: ImportQuote & { total: string; missing: string }
  /** Reason why the import did not start or stopped early. Null if it completed. */
  stopped: string | null
  rows: Outcome[]
}

const MAX_CONCURRENCY = 32

/** Returns the access token. Throws a usage error. */
async function readToken(file: string | undefined): Promise<string> {
  const { readAccessToken } = await import('../../config.ts')
  let token: string | undefined
  try {
    token = (file === undefined ? readAccessToken(out.terminal().env) : readFileSync(file, 'utf8'))?.trim()
  } catch (error) {
    throw out.usageError(`Cannot read the token: ${(error as Error).message}.`)
  }
  if (token && /^[\x21-\x7E]+$/.test(token)) return token
  throw out.usageError('Set --token-file to a file with an access token, or set ANNAL_TOKEN.')
}

/** Parses an integer option. Throws a usage error. */
function readCount(flag: string, text: string, max: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= max) return count
  throw out.usageError(`${flag} must be an integer from 1${max === Infinity ? '' : ` to ${max}`}.`)
}

/** Returns the URL of the server. Throws a usage error or ConfigError. */
async function readUrl(url: string | undefined): Promise<string> {
  if (url === undefined) {
    const { readConfig } = await import('../../config.ts')
    return localUrl(readConfig(out.terminal().env))
  }
  const { protocol, username } = URL.parse(url) ?? {}
  if ((protocol === 'http:' || protocol === 'https:') && !username) return url
  throw out.usageError('--url must be an address such as https://annal.example.org.')
}

/** Creates a runner for the steps of an import, each with its own progress bar. */
function createSteps() {
  let progress: Progress | undefined
  return {
    async step<T>(verb: string, total: number, work: (done: (count: number) => void) => Promise<T>): Promise<T> {
      const own = createProgress(verb)
      progress = own
      try {
        return await work((count) => own.update(count, total))
      } finally {
        own.end()
        progress = undefined
      }
    },
    report: (text: string) => (progress ? progress.report(text) : out.report(text)),
  }
}

/** Returns the cost of these files. Identical files are charged once. */
function costOf({ each, available }: ImportQuote, rows: readonly ImportRow[]): Report['cost'] {
  const total = toUnits(each) * BigInt(new Set(rows.map(({ sha256 }) => sha256)).size)
  const missing = total - toUnits(available)
  return { each, available, total: fromUnits(total), missing: fromUnits(missing > 0n ? missing : 0n) }
}

type Named = Pick<ImportRow, 'row' | 'path'>

const pending = ({ row, path }: Named): Outcome => ({ row, path, state: 'pending' })

const failed = ({ row, path }: Named, { code, message }: { code: string; message: string }): Outcome => ({
  ...{ row, path, state: 'failed', code, message },
})

interface ImportOptions {
  server: ImportServer
  /** Maximum cost of one registration, as a decimal string. */
  maxCost: string
  concurrency: number
  /** Called with the number of completed rows. */
  done: (count: number) => void
}

/** Validates the metadata of each row on the server, without sending files. Throws RefusedError. */
async function validateRows(rows: readonly ImportRow[], { server, concurrency, done }: Omit<ImportOptions, 'maxCost'>) {
  const outcomes: Outcome[] = []
  await forEachConcurrent(rows, concurrency, async (row) => {
    const problem = Object.keys(row.fields).length ? await server.validate(row) : undefined
    outcomes.push(problem ? failed(row, problem) : pending(row))
    done(outcomes.length)
  })
  return outcomes
}

/** Errors that affect a single row. All other errors stop the import. */
const rowErrors = new Set<string>([
  ...(['DUPLICATE_ASSET', 'INTERNAL', 'PARSE_ERROR', 'PAYLOAD_TOO_LARGE', 'VALIDATION_FAILED'] as const).map(
    (code) => statuses[code].type,
  ),
  ...['damaged', 'not_sent'],
])

/** Registers rows. `stopped`: reason why the import stopped early, or null. */
export async function registerRows(
  rows: readonly ImportRow[],
  { server, maxCost, concurrency, done }: ImportOptions,
): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
  const importId = randomUUID()
  const outcomes = new Map<ImportRow, Outcome>()

  async function register(each: ImportRow): Promise<Outcome> {
    const { row, path, sha256 } = each
    try {
      return {
        row,
        path,
        state: 'registered',
        nid: await server.register(each, maxCost, `annal-import ${importId} ${row}`),
      }
    } catch (error) {
      if (!(error instanceof RefusedError && rowErrors.has(error.code))) throw error
      // An interrupted import may have registered the file without receiving the response.
      const isDuplicate = error.code === statuses.DUPLICATE_ASSET.type
      const nid = isDuplicate ? (await server.findRegistered(new Set([sha256]))).get(sha256) : undefined
      return nid === undefined ? failed(each, error) : { row, path, state: 'existing', nid }
    }
  }

  let stopped: string | null = null
  try {
    await forEachConcurrent(rows, concurrency, async (row) => {
      outcomes.set(row, await register(row))
      done(outcomes.size)
    })
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof out.InterruptedError)) throw error
    stopped = error.message
  }
  return { outcomes: rows.map((row) => outcomes.get(row) ?? pending(row)), stopped }
}

/** Runs an import. Throws a usage error, RefusedError or InterruptedError. */
async function runImport(source: string, flags: ImportFlags): Promise<Report> {
  const concurrency = readCount('--concurrency', flags.concurrency, MAX_CONCURRENCY)
  const limit = flags.limit === undefined ? undefined : readCount('--limit', flags.limit, Infinity)
  const steps = createSteps()
  const interrupted = out.interruption()
  const retry = createRetry(steps.report, interrupted)
  const server = createImportServer(await readUrl(flags.url), await readToken(flags.tokenFile), { concurrency, retry })

  const account = await server.readUsername()
  const { rows, folder } = await readSource(source, flags.files)
  const files = await steps.step('examined', rows.length, (done) => examineFiles(rows, folder, { done, interrupted }))
  // Reading the balance before the registered files prevents a concurrent import from being counted twice.
  const quote = await server.quote()
  const registered = await server.findRegistered(new Set(files.valid.map(({ sha256 }) => sha256)))
  const open = files.valid.filter(({ sha256 }) => !registered.has(sha256))
  const existing = files.valid.flatMap(({ row, path, sha256 }): Outcome[] => {
    const nid = registered.get(sha256)
    return nid === undefined ? [] : [{ row, path, state: 'existing', nid }]
  })
  const wanted = open.slice(0, limit)
  const cost = costOf(quote, wanted)
  const { total, available, missing } = cost
  const unaffordable =
    missing === '0'
      ? null
      : `The import costs ${total}, but the balance is ${available}: ${missing} missing. Add funds, or import fewer files with --limit.`

  async function importWanted(): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
    if (flags.dryRun) {
      const outcomes = await steps.step('checked', wanted.length, (done) =>
        validateRows(wanted, { server, concurrency, done }),
      )
      return { outcomes, stopped: unaffordable }
    }
    if (unaffordable !== null) return { outcomes: wanted.map(pending), stopped: unaffordable }
    interrupted.addEventListener('abort', () =>
      steps.report('Finishing uploads in progress. Press Ctrl-C again to stop immediately.'),
    )
    return steps.step('registered', wanted.length, (done) =>
      registerRows(wanted, { server, maxCost: cost.each, concurrency, done }),
    )
  }
  const { outcomes, stopped } = await importWanted()
  const invalid = files.invalid.map((row) => failed(row, { code: 'not_sent', message: row.problem }))
  const all = [...invalid, ...existing, ...open.slice(wanted.length).map(pending), ...outcomes]
  return { account, cost, stopped, rows: all.sort((a, b) => a.row - b.row) }
}

function printReport({ account, cost, stopped, rows }: Report, isDryRun: boolean) {
  const count = (state: Outcome['state']) => rows.filter((row) => row.state === state).length
  const failures = rows.filter((row) => row.state === 'failed')
  if (failures.length) {
    out.printTable([
      ['row', 'file', 'code', 'reason'],
      ...failures.map(({ row, path, code, message }) => [row, path, code, message]),
    ])
  }
  if (isDryRun) out.report(`Cost: ${cost.total}. Balance of ${account}: ${cost.available}.`)
  const counts = (['registered', 'existing', 'failed', 'pending'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`)
  out.report(`${out.counted(rows.length, 'row')}${counts.length ? `: ${counts.join(', ')}` : ''}.`)
  if (stopped !== null) out.report(out.red(stopped))
  else if (failures.length) out.report(out.red('Fix the failed rows, and run the same command again.'))
  else if (rows.length === 0) out.report('There is nothing to import.')
  else if (count('pending') === 0) out.report(out.green('All files are registered.'))
  if (!isDryRun && stopped !== null && count('pending')) out.report('Run the same command again to continue.')
}

export function addImportCommand(program: Command): void {
  command(
    program,
    'import',
    'Registers many files with a server. Repeat it after an interruption: it continues and pays for nothing twice.',
    [
      'annal import photos/ --token-file ~/.annal-token --dry-run',
      'annal import photos.csv --files /mnt/photos --url https://annal.example.org --token-file ~/.annal-token',
      `ANNAL_TOKEN=… annal import photos.jsonl --json | jq -r '.rows[] | select(.state == "failed") | .path'`,
    ],
    `A list has the column \`file\` and may have fields of POST /api/v3/assets/, such as caption and public_access. Row numbers are those of a spreadsheet.
The separator is a comma, a semicolon or a tab. The encoding is UTF-8. Files must be in the folder.
The import does not start if the balance does not cover all files. A file that the account has already registered costs nothing.
Exits with 0 if all files were registered, or on a dry run can be registered, else with 1.`,
  )
    .argument('<source>', 'folder, or .csv, .tsv, .txt, .jsonl or .ndjson list')
    .option('--files <folder>', 'folder of the files in a list; default: the folder of the list')
    .option('--url <url>', 'URL of the server; default: the server on this machine')
    .option('--token-file <path>', 'file with the access token of the account that pays; default: ANNAL_TOKEN')
    .option('--concurrency <count>', `number of concurrent uploads, up to ${MAX_CONCURRENCY}`, '4')
    .option('--limit <count>', 'maximum number of files to register')
    .option('--dry-run', 'shows the cost and the rows that would fail, and registers nothing')
    .option(
      '--json',
      'prints {"account", "cost": {"each", "total", "available", "missing"}, "stopped", "rows": [{"row", "path", "state", "nid" or "code" and "message"}]}; a state is registered, existing, failed or pending',
    )
    .action(async (source: string, flags: ImportFlags) => {
      const result = await runImport(source, flags)
      // Files beyond --limit stay pending. This is not a failure.
      if (result.stopped !== null || result.rows.some(({ state }) => state === 'failed')) out.fail()
      if (flags.json) return out.printJson(result)
      printReport(result, flags.dryRun === true)
    })
}
