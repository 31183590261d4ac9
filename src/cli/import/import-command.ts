/** Command `import`. Repeating an import neither registers nor charges twice. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { statuses } from '../../http/error-status.ts'
import { forEachConcurrent } from '../../shared/async.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { command, type Flags, integer } from '../command.ts'
import * as out from '../terminal.ts'
import { localUrl } from '../with-infrastructure.ts'
import { createImportServer, type ImportQuote, type ImportServer, RefusedError } from './import-server.ts'
import { examineFiles, type ImportRow, readSource } from './import-source.ts'

type ImportFlags = Flags<never, 'files' | 'url' | 'tokenFile'> & { concurrency: number; limit?: number; dryRun?: true }

/** States of a row. `existing`: the account registered the file before, so it costs nothing. `pending`: not registered yet. */
const states = ['registered', 'existing', 'failed', 'pending'] as const
type State = (typeof states)[number]

/** Result of a row. `nid` of a registered or existing file. `code` and `message` of a failed one. */
type Outcome = { row: number; path: string; state: State; nid?: string; code?: string; message?: string }

const MAX_CONCURRENCY = 32

async function readToken(file: string | undefined): Promise<string> {
  const { readOther } = await import('../../config.ts')
  let token: string | undefined
  try {
    token = (file === undefined ? readOther('ANNAL_TOKEN', out.terminal().env) : readFileSync(file, 'utf8'))?.trim()
  } catch (error) {
    throw out.usageError(`Cannot read the token: ${(error as Error).message}.`)
  }
  if (token && /^[\x21-\x7E]+$/.test(token)) return token
  throw out.usageError('Set --token-file to a file with an access token, or set ANNAL_TOKEN.')
}

async function readUrl(url: string | undefined): Promise<string> {
  if (url === undefined) return localUrl((await import('../../config.ts')).readConfig(out.terminal().env))
  const { protocol, username } = URL.parse(url) ?? {}
  if ((protocol === 'http:' || protocol === 'https:') && !username) return url
  throw out.usageError('--url must be an address such as https://annal.example.org.')
}

/** Returns the cost of these files, as decimal strings. Identical files are charged once. */
function costOf({ each, available }: ImportQuote, rows: readonly ImportRow[]) {
  const total = toUnits(each) * BigInt(new Set(rows.map(({ sha256 }) => sha256)).size)
  const missing = total - toUnits(available)
  return { each, available, total: fromUnits(total), missing: fromUnits(missing > 0n ? missing : 0n) }
}

const outcome = (
  { row, path }: Pick<ImportRow, 'row' | 'path'>,
  state: State,
  facts: Pick<Outcome, 'nid' | 'code' | 'message'> = {},
): Outcome => ({ row, path, state, ...facts })

const { DUPLICATE_ASSET, INTERNAL, PARSE_ERROR, PAYLOAD_TOO_LARGE, VALIDATION_FAILED } = statuses
const rowStatuses = [DUPLICATE_ASSET, INTERNAL, PARSE_ERROR, PAYLOAD_TOO_LARGE, VALIDATION_FAILED]
/** Errors that affect a single row. All other errors stop the import. */
const rowErrors = new Set<string>(['damaged', 'not_sent', ...rowStatuses.map(({ type }) => type)])

/** Registers a file. Throws errors that stop the import. */
async function register(row: ImportRow, server: ImportServer, maxCost: string, key: string): Promise<Outcome> {
  try {
    return outcome(row, 'registered', { nid: await server.register(row, maxCost, key) })
  } catch (error) {
    if (!(error instanceof RefusedError && rowErrors.has(error.code))) throw error
    // An interrupted import may have registered the file without receiving the response.
    const isDuplicate = error.code === DUPLICATE_ASSET.type
    const nid = isDuplicate ? await server.findRegistered(row.sha256) : undefined
    const { code, message } = error
    return nid === undefined ? outcome(row, 'failed', { code, message }) : outcome(row, 'existing', { nid })
  }
}

async function validate(row: ImportRow, server: ImportServer): Promise<Outcome> {
  const problem = Object.keys(row.fields).length ? await server.validate(row) : undefined
  return problem ? outcome(row, 'failed', problem) : outcome(row, 'pending')
}

/** Validates or registers rows. `maxCost`: maximum cost of one registration as a decimal string, or undefined to validate. */
export async function processRows(
  rows: readonly ImportRow[],
  { server, maxCost, concurrency }: { server: ImportServer; maxCost?: string | undefined; concurrency: number },
  onProgress = (_count: number) => {},
): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
  const importId = randomUUID()
  const outcomes = new Map<ImportRow, Outcome>()
  const processRow = (row: ImportRow) =>
    maxCost === undefined
      ? validate(row, server)
      : register(row, server, maxCost, `annal-import ${importId} ${row.row}`)
  let stopped: string | null = null
  try {
    await forEachConcurrent(rows, concurrency, async (row) => {
      outcomes.set(row, await processRow(row))
      onProgress(outcomes.size)
    })
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof out.InterruptedError)) throw error
    stopped = error.message
  }
  return { outcomes: rows.map((row) => outcomes.get(row) ?? outcome(row, 'pending')), stopped }
}

/** Runs an import. `stopped`: reason why the import did not start or stopped early, or null. */
async function runImport(source: string, { concurrency, limit, dryRun, ...flags }: ImportFlags) {
  const interrupted = out.interruption()
  const server = createImportServer(await readUrl(flags.url), await readToken(flags.tokenFile), interrupted)
  const account = await server.readUsername()
  const { rows, folder } = await readSource(source, flags.files)
  const examined = out.createProgress('examined')
  const files = await examineFiles(rows, folder, (done) => examined(done, rows.length))
  // Reading the balance before the registered files prevents a concurrent import from being counted twice.
  const quote = await server.quote()
  const registered = await server.readRegistered()
  const open = files.valid.filter(({ sha256 }) => !registered.has(sha256))
  const wanted = open.slice(0, limit)
  const cost = costOf(quote, wanted)
  const unaffordable = `The import costs ${cost.total}, but the balance is ${cost.available}: ${cost.missing} missing. Add funds, or import fewer files with --limit.`
  const reason = cost.missing === '0' ? null : unaffordable
  const started = reason === null || dryRun ? wanted : []
  interrupted.addEventListener('abort', () =>
    out.report('Finishing uploads in progress. Press Ctrl-C again to stop immediately.'),
  )
  const progress = out.createProgress(dryRun ? 'checked' : 'registered')
  const options = { server, maxCost: dryRun ? undefined : cost.each, concurrency }
  const { outcomes, stopped } = await processRows(started, options, (done) => progress(done, started.length))
  const results = [
    ...files.invalid.map((row) => outcome(row, 'failed', { code: 'not_sent', message: row.problem })),
    ...files.valid.flatMap((row) => {
      const nid = registered.get(row.sha256)
      return nid === undefined ? [] : [outcome(row, 'existing', { nid })]
    }),
    ...outcomes,
    ...open.slice(started.length).map((row) => outcome(row, 'pending')),
  ]
  return { account, cost, stopped: stopped ?? reason, rows: results.sort((a, b) => a.row - b.row) }
}

type Report = Awaited<ReturnType<typeof runImport>>

function printReport({ account, cost, stopped, rows }: Report, isDryRun: boolean) {
  const count = (wanted: State) => rows.filter(({ state }) => state === wanted).length
  const failures = rows.filter(({ state }) => state === 'failed')
  if (failures.length) out.printTable(failures, 'row', 'path', 'code', 'message')
  if (isDryRun) out.report(`Cost: ${cost.total}. Balance of ${account}: ${cost.available}.`)
  const counts = states.filter((state) => count(state) > 0).map((state) => `${count(state)} ${state}`)
  out.report(`${out.counted(rows.length, 'row')}${counts.length ? `: ${counts.join(', ')}` : ''}.`)
  if (stopped !== null) out.report(out.red(stopped))
  else if (failures.length) out.report(out.red('Fix the failed rows, and run the same command again.'))
  else if (rows.length === 0) out.report('There is nothing to import.')
  else if (count('pending') === 0) out.report(out.green('All files are registered.'))
  if (!isDryRun && stopped !== null && count('pending')) out.report('Run the same command again to continue.')
}

export function addImportCommand(program: Command): void {
  command(program, 'import', {
    description:
      'Registers many files with a server. Repeat it after an interruption: it continues and pays for nothing twice.',
    examples: [
      'annal import photos/ --token-file ~/.annal-token --dry-run',
      'annal import photos.csv --files /mnt/photos --url https://annal.example.org --token-file ~/.annal-token',
      `ANNAL_TOKEN=… annal import photos.csv --json | jq -r '.rows[] | select(.state == "failed") | .path'`,
    ],
    notes: `A list has the column \`file\` and may have fields of POST /api/v3/assets/, such as caption and public_access. Row numbers are those of a spreadsheet.
The separator is a comma, a semicolon or a tab. The encoding is UTF-8. Files must be in the folder.
The import does not start if the balance does not cover all files. A file that the account has already registered costs nothing.
Exits with 0 if all files were registered, or on a dry run can be registered, else with 1.`,
    json: '{"account", "cost": {"each", "total", "available", "missing"}, "stopped", "rows": [{"row", "path", "state", "nid" or "code" and "message"}]}; a state is registered, existing, failed or pending',
  })
    .argument('<source>', 'folder, or .csv, .tsv, .txt, .jsonl or .ndjson list')
    .option('--files <folder>', 'folder of the files in a list; default: the folder of the list')
    .option('--url <url>', 'URL of the server; default: the server on this machine')
    .option('--token-file <path>', 'file with the access token of the account that pays; default: ANNAL_TOKEN')
    .option('--concurrency <count>', `concurrent uploads, up to ${MAX_CONCURRENCY}`, integer(1, MAX_CONCURRENCY), 4)
    .option('--limit <count>', 'maximum number of files to register', integer(1))
    .option('--dry-run', 'shows the cost and the rows that would fail, and registers nothing')
    .action(async (source: string, flags: ImportFlags) => {
      const result = await runImport(source, flags)
      // Files beyond --limit stay pending. This is not a failure.
      if (result.stopped !== null || result.rows.some(({ state }) => state === 'failed')) out.fail()
      if (flags.json) return out.printJson(result)
      printReport(result, flags.dryRun === true)
    })
}
