/** `annal import`. */
import { readFileSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { command } from './command.ts'
import type { ImportCost, Outcome } from './import/import.ts'
import { counted, fail, green, print, printJson, red, say, table, WRONG_USAGE } from './output.ts'
import { createSteps } from './progress.ts'
import { interruption, terminal } from './terminal.ts'

interface ImportFlags {
  files?: string
  url?: string
  tokenFile?: string
  concurrency: string
  limit?: string
  dryRun?: true
  json?: true
}

interface Report {
  account: string
  cost: ImportCost
  /** Why it did not begin, or not come to its end; null when nothing was in its way. */
  stopped: string | null
  rows: Outcome[]
}

const MOST_AT_ONCE = 32
const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.import', message)

/** Raises CommanderError. */
async function readToken(file: string | undefined): Promise<string> {
  const { readAccessToken } = await import('../config.ts')
  const token = (file === undefined ? readAccessToken(terminal().env) : readTokenFile(file))?.trim()
  if (token && /^[\x21-\x7E]+$/.test(token)) return token
  throw wrong('Name a file that holds an access token by --token-file, or set ANNAL_TOKEN.')
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw wrong(`The token cannot be read: ${(error as Error).message}.`)
  }
}

/** Raises CommanderError. */
function wholeNumber(flag: string, text: string, most: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw wrong(`${flag} is a whole number from 1${most === Infinity ? '' : ` to ${most}`}.`)
}

/** The server that is named, or the one that runs here. Raises CommanderError, ConfigError. */
async function urlOf(url: string | undefined): Promise<string> {
  if (url === undefined) {
    const { readConfig } = await import('../config.ts')
    const { ownUrl } = await import('./own-url.ts')
    return ownUrl(readConfig(terminal().env))
  }
  const { protocol, username } = URL.parse(url) ?? {}
  if ((protocol === 'http:' || protocol === 'https:') && !username) return url
  throw wrong('--url is an address such as https://annal.example.org.')
}

/** Raises CommanderError, RefusedError, InterruptedError. */
async function carryOut(source: string, flags: ImportFlags): Promise<Report> {
  const atOnce = wholeNumber('--concurrency', flags.concurrency, MOST_AT_ONCE)
  const limit = flags.limit === undefined ? undefined : wholeNumber('--limit', flags.limit, Infinity)
  const { lookAtFiles } = await import('./import/files.ts')
  const { costOf, divide, importRows, judgeRows, leave, refusalOf, reject } = await import('./import/import.ts')
  const { createImportServer } = await import('./import/server.ts')
  const { createPatience } = await import('./import/patience.ts')
  const { readSource } = await import('./import/source.ts')
  const { step, say: tell } = createSteps()
  const interrupted = interruption()
  const patiently = createPatience(tell, interrupted)
  const server = createImportServer(await urlOf(flags.url), await readToken(flags.tokenFile), { atOnce, patiently })

  const account = await server.whose()
  const { rows, folder } = await readSource(source, flags.files)
  const { good, bad } = await step('looked at', rows.length, (done) => lookAtFiles(rows, folder, { done, interrupted }))
  // The wallet first: what somebody else registers in between is then asked of nobody twice.
  const quote = await server.quote()
  const { before, open } = divide(good, await server.findRegistered(new Set(good.map(({ sha256 }) => sha256))))
  const wanted = open.slice(0, limit)
  const cost = costOf(quote, wanted)

  async function deal(): Promise<{ outcomes: Outcome[]; stopped: string | null }> {
    const refusal = refusalOf(cost)
    if (flags.dryRun) {
      const judge = (done: (count: number) => void) => judgeRows(wanted, { server, atOnce, done })
      return { outcomes: await step('checked', wanted.length, judge), stopped: refusal }
    }
    if (refusal !== null) return { outcomes: wanted.map(leave), stopped: refusal }
    interrupted.addEventListener('abort', () => tell('What is under way is finished; Ctrl-C once more ends it.'))
    return step('registered', wanted.length, (done) => importRows(wanted, { server, each: cost.each, atOnce, done }))
  }
  const { outcomes, stopped } = await deal()
  const known = [...bad.map(reject), ...before, ...open.slice(wanted.length).map(leave)]
  return { account, cost, stopped, rows: [...known, ...outcomes].sort((a, b) => a.row - b.row) }
}

function printReport({ account, cost, stopped, rows }: Report, isDryRun: boolean) {
  const of = (state: Outcome['state']) => rows.filter((row) => row.state === state).length
  const failures = rows.flatMap((row) => (row.state === 'failed' ? [row] : []))
  if (failures.length) {
    const lines = failures.map(({ row, path, code, message }) => [String(row), path, code, message])
    print(table([['row', 'file', 'code', 'why'], ...lines]))
  }
  if (isDryRun) say(`It would cost ${cost.total}, of ${cost.available} that ${account} has.`)
  const counts = [
    [of('registered'), 'registered'],
    [of('before'), 'registered before'],
    [failures.length, 'failed'],
    [of('left'), isDryRun ? 'to register' : 'left'],
  ] as const
  const told = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  say(`${counted(rows.length, 'row')}${told.length ? `: ${told.join(', ')}` : ''}.`)
  if (stopped !== null) say(red(stopped))
  else if (failures.length) say(red('Mend what failed, and give the same command again.'))
  else if (rows.length === 0) say('There is nothing to import.')
  else if (of('left') === 0) say(green('All files are registered.'))
  if (!isDryRun && stopped !== null && of('left')) say('The same command goes on with what is left.')
}

/** What --limit leaves is left as it was wanted. */
const isWell = ({ rows, stopped }: Report) => stopped === null && rows.every(({ state }) => state !== 'failed')

/** Adds `annal import`. */
export function addImportCommand(program: Command): void {
  command(
    program,
    'import',
    'Registers many files with a server, here or elsewhere; given again after an interruption it goes on, and pays for nothing twice.',
    [
      'annal import photos/ --token-file ~/.annal-token --dry-run',
      'annal import photos.csv --files /mnt/photos --url https://annal.example.org --token-file ~/.annal-token',
      `ANNAL_TOKEN=… annal import photos.jsonl --json | jq -r '.rows[] | select(.state == "failed") | .path'`,
    ],
    `Fields besides \`file\` are those of POST /api/v3/assets/: caption, headline, alt_text, tag, public_access, nit_commit_custom (JSON)
and so on. Rows are counted as spreadsheets count them: the header of a CSV is row 1. Files are only read in their folder.
The header of a CSV decides whether commas, semicolons or tabs separate its cells; case and spaces in field names do not matter.
Lists are UTF-8, or UTF-16 as Excel saves "Unicode Text". A backslash in a path separates folders, as on Windows.
Nothing is begun when the wallet cannot pay for all of it. A file that the account has registered already, by an earlier import or
otherwise, costs nothing and stays as it is; one that has changed since is another file.
Exits with 0 when all that was wanted is registered, or on a dry run could be, and else with 1.`,
  )
    .argument('<source>', 'a folder, or a .csv, .tsv, .txt, .jsonl or .ndjson list whose field `file` names each file')
    .option('--files <folder>', 'where the files are that a CSV or JSON lines name; default: beside it')
    .option('--url <url>', 'where the server is; default: the one on this machine')
    .option('--token-file <path>', 'a file with the access token of who pays; default: the variable ANNAL_TOKEN')
    .option('--concurrency <count>', `how many files are sent at once, up to ${MOST_AT_ONCE}`, '4')
    .option('--limit <count>', 'registers at most so many, and leaves the others')
    .option('--dry-run', 'tells what it would cost and which rows would fail, and registers nothing')
    .option(
      '--json',
      'prints {"account", "cost": {"each", "total", "available", "missing"}, "stopped", "rows": [{"row", "path", "state", "nid" or "code" and "message"}]}; a state is registered, before, failed or left',
    )
    .action(async (source: string, flags: ImportFlags) => {
      const report = await carryOut(source, flags)
      const isDryRun = flags.dryRun === true
      if (!isWell(report)) fail()
      if (flags.json) return printJson(report)
      printReport(report, isDryRun)
    })
}
