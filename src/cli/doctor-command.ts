/** `annal doctor`. */
import type { Command } from 'commander'
import { FixableError } from '../shared/operator-errors.ts'
import { command } from './command.ts'
import {
  checkConfiguration,
  checkEmbedded,
  checkExposure,
  checkPublicUrl,
  checkSecrets,
  checkServer,
} from './doctor/configuration.ts'
import { type Diagnosis, SkippedError, type State, wrong } from './doctor/diagnosis.ts'
import { checkDisk, checkFolders, checkMemory, checkNode, checkOpenFiles } from './doctor/machine.ts'
import { createParts, type Parts } from './doctor/parts.ts'
import { counted, fail, green, print, printJson, red, say, yellow } from './output.ts'
import { type Terminal, terminal } from './terminal.ts'

interface Check {
  /** Looks at one thing. What it raises is told as its finding. */
  look(parts: Parts): Promise<Diagnosis[]>
  /** Milliseconds. */
  patience?: number
}

/** An embedded server that has to be started has a minute. */
const START_MS = 70_000
const PATIENCE_MS = 15_000

/** What is loaded only where a database or another part is asked. */
const database = () => import('./doctor/database.ts')
const chain = () => import('./doctor/chain.ts')
const coins = () => import('./doctor/coins.ts')
const outside = () => import('./doctor/outside.ts')
const work = () => import('./doctor/work.ts')

/** Every check, in the order in which it is told. */
export const checks = {
  configuration: { look: checkConfiguration },
  secrets: { look: checkSecrets },
  embedded: { look: checkEmbedded },
  'public-url': { look: checkPublicUrl },
  exposure: { look: checkExposure },
  node: { look: checkNode },
  'open-files': { look: checkOpenFiles },
  memory: { look: checkMemory },
  disk: { look: checkDisk },
  folders: { look: checkFolders },
  database: { look: async (parts) => (await database()).checkDatabase(parts), patience: START_MS },
  migrations: { look: async (parts) => (await database()).checkMigrations(parts), patience: START_MS },
  'database-server': { look: async (parts) => (await database()).checkDatabaseServer(parts), patience: START_MS },
  replication: {
    look: async (parts) => (await import('./doctor/replication.ts')).checkReplication(parts),
    patience: START_MS,
  },
  clock: { look: async (parts) => (await database()).checkClock(parts), patience: START_MS },
  backups: { look: async (parts) => (await database()).checkBackups(parts), patience: START_MS },
  keys: { look: async (parts) => (await import('./doctor/keys.ts')).checkKeys(parts), patience: START_MS },
  'content-credentials': {
    look: async (parts) => (await import('./doctor/content-credentials.ts')).checkContentCredentials(parts),
  },
  chain: { look: async (parts) => (await chain()).checkChain(parts), patience: START_MS },
  'relay-accounts': { look: async (parts) => (await chain()).checkRelayAccounts(parts), patience: START_MS },
  relay: { look: async (parts) => (await chain()).checkRelay(parts), patience: START_MS },
  deposits: { look: async (parts) => (await coins()).checkDeposits(parts) },
  treasury: { look: async (parts) => (await coins()).checkTreasury(parts), patience: START_MS },
  files: { look: async (parts) => (await outside()).checkFiles(parts), patience: START_MS },
  mail: { look: async (parts) => (await outside()).checkMail(parts) },
  roles: { look: async (parts) => (await work()).checkRoles(parts), patience: START_MS },
  jobs: { look: async (parts) => (await work()).checkJobs(parts), patience: START_MS },
  sweeps: { look: async (parts) => (await work()).checkSweeps(parts), patience: START_MS },
  withdrawals: { look: async (parts) => (await work()).checkWithdrawals(parts), patience: START_MS },
  webhooks: { look: async (parts) => (await work()).checkWebhooks(parts), patience: START_MS },
  server: { look: checkServer },
} satisfies Record<string, Check>

/** A line with the name of its check. */
type Line = Diagnosis & { check: string }

async function examine(name: string, { look, patience = PATIENCE_MS }: Check, parts: Parts): Promise<Line[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const alarm = setTimeout(() => reject(new Error(`It took longer than ${patience / 1_000} seconds.`)), patience)
  try {
    const diagnoses = await Promise.race([look(parts), late])
    return diagnoses.map((diagnosis) => ({ check: name, ...diagnosis }))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof SkippedError) return [{ check: name, state: 'skipped', finding: reason }]
    if (error instanceof FixableError) return [{ check: name, ...wrong(error.finding, error.fix) }]
    return [
      { check: name, ...wrong(`This could not be looked at: ${reason}`, 'Mend what the reason names, and ask again.') },
    ]
  } finally {
    clearTimeout(alarm)
  }
}

async function examineAll(parts: Parts, names: readonly string[]): Promise<Line[]> {
  const isWanted = (name: string) => names.length === 0 || names.includes(name)
  // What is wrong with the configuration is told whatever was asked for: nothing else can be looked at then.
  const begun = Object.entries<Check>(checks).filter(([name]) => name === 'configuration' || isWanted(name))
  try {
    const lines = (await Promise.all(begun.map(([name, check]) => examine(name, check, parts)))).flat()
    return lines.filter(({ check, state }) => isWanted(check) || state === 'wrong')
  } finally {
    await parts.close()
  }
}

type Paint = (text: string, stream: Terminal['stdout']) => string
const paints: Partial<Record<State, Paint>> = { right: green, warning: yellow, wrong: red }
const MARK_WIDTH = 7

function mark(state: State): string {
  const text = state.padEnd(MARK_WIDTH)
  return paints[state]?.(text, terminal().stdout) ?? text
}

function printLines(lines: readonly Line[]) {
  const width = Math.max(...lines.map(({ check }) => check.length))
  for (const { check, state, finding, fix } of lines) {
    print(`${check.padEnd(width)}  ${mark(state)}  ${finding}`)
    if (fix !== undefined) print(`${' '.repeat(width + MARK_WIDTH + 4)}→ ${fix}`)
  }
  const of = (state: State) => lines.filter((line) => line.state === state).length
  const [bad, doubtful] = [of('wrong'), of('warning')]
  if (bad) return say(red(`${counted(bad, 'thing is', 'things are')} wrong, ${counted(doubtful, 'warning')}.`))
  say(doubtful ? yellow(`Nothing is wrong, ${counted(doubtful, 'warning')}.`) : green('Nothing is wrong.'))
}

/** Adds `annal doctor`. */
export function addDoctorCommand(program: Command): void {
  command(
    program,
    'doctor',
    'Looks at all that Annal needs, tells what is wrong or dangerous, and what to do about each; exits with 1 when something is wrong.',
    [
      'annal doctor',
      'annal doctor --only database keys',
      `annal doctor --json | jq -r '.[] | select(.state == "wrong") | .fix'`,
    ],
  )
    .option('--only <check...>', `these checks alone, of: ${Object.keys(checks).join(', ')}`)
    .option(
      '--json',
      'prints a list of {"check", "state", "finding", "fix"}; a state is right, to know, warning, wrong or skipped',
    )
    .action(async ({ only = [], json }: { only?: string[]; json?: true }) => {
      const unknown = only.filter((name) => !Object.hasOwn(checks, name))
      if (unknown.length) return program.error(`error: there is no check '${unknown[0]}'`)
      const lines = await examineAll(createParts(terminal().env, program.version()!), only)
      if (lines.some(({ state }) => state === 'wrong')) fail()
      if (json) return printJson(lines.map((line) => ({ ...line, fix: line.fix ?? null })))
      printLines(lines)
    })
}
