/** Command `doctor`. */
import type { Command } from 'commander'
import { FixableError } from '../../shared/operator-errors.ts'
import { command } from '../command.ts'
import { counted, fail, green, print, printJson, red, report, terminal, yellow } from '../terminal.ts'
import type { Diagnoses, Diagnosis, Parts, State } from './diagnosis.ts'
import * as diagnosis from './diagnosis.ts'

type Check = (parts: Parts) => Diagnoses

/** Defines checks whose module is loaded when they run. */
const lazy =
  <Module>(load: () => Promise<Module>) =>
  (select: (module: Module) => Check): Check =>
    async function* (parts) {
      return yield* select(await load())(parts)
    }
const configuration = lazy(() => import('./configuration-checks.ts'))
const database = lazy(() => import('./database-checks.ts'))
const chain = lazy(() => import('./chain-checks.ts'))
const storage = lazy(() => import('./storage-checks.ts'))

/** All checks, in output order. */
export const checks: Readonly<Record<string, Check>> = {
  configuration: configuration((module) => module.checkConfiguration),
  secrets: configuration((module) => module.checkSecrets),
  embedded: configuration((module) => module.checkEmbedded),
  'public-url': configuration((module) => module.checkPublicUrl),
  exposure: configuration((module) => module.checkExposure),
  node: configuration((module) => module.checkNode),
  'open-files': configuration((module) => module.checkOpenFiles),
  memory: configuration((module) => module.checkMemory),
  disk: configuration((module) => module.checkDisk),
  folders: configuration((module) => module.checkFolders),
  database: database((module) => module.checkDatabase),
  migrations: database((module) => module.checkMigrations),
  'database-server': database((module) => module.checkDatabaseServer),
  replication: database((module) => module.checkReplication),
  clock: database((module) => module.checkClock),
  backups: database((module) => module.checkBackups),
  keys: storage((module) => module.checkKeys),
  'content-credentials': storage((module) => module.checkContentCredentials),
  chain: chain((module) => module.checkChain),
  'relay-accounts': chain((module) => module.checkRelayAccounts),
  relay: database((module) => module.checkRelay),
  deposits: chain((module) => module.checkDeposits),
  treasury: chain((module) => module.checkTreasury),
  files: storage((module) => module.checkFiles),
  mail: storage((module) => module.checkMail),
  roles: database((module) => module.checkRoles),
  jobs: database((module) => module.checkJobs),
  'batch-jobs': database((module) => module.checkBatchJobs),
  withdrawals: database((module) => module.checkWithdrawals),
  webhooks: database((module) => module.checkWebhooks),
  server: configuration((module) => module.checkServer),
}

type Line = Diagnosis & { check: string }

/** Timeout of a check, in milliseconds. Long enough to start an embedded server. */
const TIMEOUT_MS = 70_000

async function collect(diagnoses: Diagnoses, into: Diagnosis[]): Promise<void> {
  for (;;) {
    const { done, value } = await diagnoses.next()
    if (!done) into.push(value)
    else if (value && into.every(({ state }) => state === 'ok' || state === 'info'))
      return void into.unshift(diagnosis.ok(value))
    else return
  }
}

async function runCheck(name: string, check: Check, parts: Parts): Promise<Line[]> {
  const diagnoses: Diagnosis[] = []
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No result after ${TIMEOUT_MS / 1_000} seconds.`)), TIMEOUT_MS)
  try {
    await Promise.race([collect(check(parts), diagnoses), late])
  } catch (error) {
    const fix = 'Fix the reported reason, then run the command again.'
    if (error instanceof diagnosis.SkippedError) diagnoses.push({ state: 'skipped', finding: error.message })
    else if (error instanceof FixableError) diagnoses.push(diagnosis.failure(error.finding, error.fix))
    else diagnoses.push(diagnosis.failure(`The check failed: ${diagnosis.messageOf(error)}`, fix))
  } finally {
    clearTimeout(timer)
  }
  return diagnoses.map((each) => ({ check: name, ...each }))
}

async function runChecks(parts: Parts, names: readonly string[]): Promise<Line[]> {
  const isWanted = (name: string) => names.length === 0 || names.includes(name)
  // Other checks need a valid configuration, so its errors are always reported.
  const selected = Object.entries(checks).filter(([name]) => name === 'configuration' || isWanted(name))
  try {
    const lines = (await Promise.all(selected.map(([name, check]) => runCheck(name, check, parts)))).flat()
    return lines.filter(({ check, state }) => isWanted(check) || state === 'error')
  } finally {
    await parts.close()
  }
}

const paints: Partial<Record<State, typeof green>> = { ok: green, warning: yellow, error: red }
const STATE_WIDTH = 7

function printLines(lines: readonly Line[]) {
  const width = Math.max(...lines.map(({ check }) => check.length))
  for (const { check, state, finding, fix } of lines) {
    const text = state.padEnd(STATE_WIDTH)
    print(`${check.padEnd(width)}  ${paints[state]?.(text, terminal().stdout) ?? text}  ${finding}`)
    if (fix !== undefined) print(`${' '.repeat(width + STATE_WIDTH + 4)}→ ${fix}`)
  }
  const count = (state: State) => lines.filter((line) => line.state === state).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors) return report(red(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`))
  report(warnings ? yellow(`No errors, ${counted(warnings, 'warning')}.`) : green('No problems found.'))
}

export function addDoctorCommand(program: Command): void {
  command(program, 'doctor', {
    description:
      'Checks everything that Annal needs, and says how to fix each problem. Exits with 1 if there is an error.',
    examples: [
      'annal doctor',
      'annal doctor --only database keys',
      `annal doctor --json | jq -r '.[] | select(.state == "error") | .fix'`,
    ],
    json: 'a list of {"check", "state", "finding", "fix"}; a state is ok, info, warning, error or skipped',
  })
    .option('--only <check...>', `checks to run, of: ${Object.keys(checks).join(', ')}`)
    .action(async ({ only = [], json }: { only?: string[]; json?: true }) => {
      const unknown = only.find((name) => !Object.hasOwn(checks, name))
      if (unknown !== undefined) return program.error(`error: there is no check '${unknown}'`)
      const lines = await runChecks(diagnosis.createParts(terminal().env, program.version()!), only)
      if (lines.some(({ state }) => state === 'error')) fail()
      if (json) return printJson(lines.map((line) => ({ ...line, fix: line.fix ?? null })))
      printLines(lines)
    })
}
