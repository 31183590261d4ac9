/** Command `doctor`. */
import type { Command } from 'commander'
import { FixableError } from '../../shared/operator-errors.ts'
import { command } from '../command.ts'
import { counted, fail, green, print, printJson, red, report, terminal, yellow } from '../terminal.ts'
import * as configuration from './configuration-checks.ts'
import { createParts, type Diagnosis, failure, messageOf, type Parts, SkippedError, type State } from './diagnosis.ts'

interface Check {
  /** Runs the check. Throws SkippedError, and FixableError, which is reported as a failure. */
  run(parts: Parts): Promise<Diagnosis[]>
  /** Timeout, in milliseconds. */
  timeout?: number
}

const TIMEOUT_MS = 15_000
/** Timeout of a check that may start an embedded server, in milliseconds. */
const START_MS = 70_000

/** Defines a check whose module is loaded on execution. */
const lazy = <Module>(load: () => Promise<Module>, select: (module: Module) => Check['run']): Check => ({
  run: async (parts) => select(await load())(parts),
  timeout: START_MS,
})
const database = () => import('./database-checks.ts')
const chain = () => import('./chain-checks.ts')
const storage = () => import('./storage-checks.ts')

/** All checks, in output order. */
export const checks: Record<string, Check> = {
  configuration: { run: configuration.checkConfiguration },
  secrets: { run: configuration.checkSecrets },
  embedded: { run: configuration.checkEmbedded },
  'public-url': { run: configuration.checkPublicUrl },
  exposure: { run: configuration.checkExposure },
  node: { run: configuration.checkNode },
  'open-files': { run: configuration.checkOpenFiles },
  memory: { run: configuration.checkMemory },
  disk: { run: configuration.checkDisk },
  folders: { run: configuration.checkFolders },
  database: lazy(database, ({ checkDatabase }) => checkDatabase),
  migrations: lazy(database, ({ checkMigrations }) => checkMigrations),
  'database-server': lazy(database, ({ checkDatabaseServer }) => checkDatabaseServer),
  replication: lazy(database, ({ checkReplication }) => checkReplication),
  clock: lazy(database, ({ checkClock }) => checkClock),
  backups: lazy(database, ({ checkBackups }) => checkBackups),
  keys: lazy(storage, ({ checkKeys }) => checkKeys),
  'content-credentials': lazy(storage, ({ checkContentCredentials }) => checkContentCredentials),
  chain: lazy(chain, ({ checkChain }) => checkChain),
  'relay-accounts': lazy(chain, ({ checkRelayAccounts }) => checkRelayAccounts),
  relay: lazy(chain, ({ checkRelay }) => checkRelay),
  deposits: lazy(chain, ({ checkDeposits }) => checkDeposits),
  treasury: lazy(chain, ({ checkTreasury }) => checkTreasury),
  files: lazy(storage, ({ checkFiles }) => checkFiles),
  mail: lazy(storage, ({ checkMail }) => checkMail),
  roles: lazy(database, ({ checkRoles }) => checkRoles),
  jobs: lazy(database, ({ checkJobs }) => checkJobs),
  'batch-jobs': lazy(database, ({ checkBatchJobs }) => checkBatchJobs),
  withdrawals: lazy(database, ({ checkWithdrawals }) => checkWithdrawals),
  webhooks: lazy(database, ({ checkWebhooks }) => checkWebhooks),
  server: { run: configuration.checkServer },
}

type Line = Diagnosis & { check: string }

async function runCheck(name: string, { run, timeout = TIMEOUT_MS }: Check, parts: Parts): Promise<Line[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No result after ${timeout / 1_000} seconds.`)), timeout)
  try {
    const diagnoses = await Promise.race([run(parts), late])
    return diagnoses.map((diagnosis) => ({ check: name, ...diagnosis }))
  } catch (error) {
    if (error instanceof SkippedError) return [{ check: name, state: 'skipped', finding: error.message }]
    if (error instanceof FixableError) return [{ check: name, ...failure(error.finding, error.fix) }]
    const finding = `The check failed: ${messageOf(error)}`
    return [{ check: name, ...failure(finding, 'Fix the reported reason, then run the command again.') }]
  } finally {
    clearTimeout(timer)
  }
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
  command(
    program,
    'doctor',
    'Checks everything that Annal needs, and says how to fix each problem. Exits with 1 if there is an error.',
    [
      'annal doctor',
      'annal doctor --only database keys',
      `annal doctor --json | jq -r '.[] | select(.state == "error") | .fix'`,
    ],
  )
    .option('--only <check...>', `checks to run, of: ${Object.keys(checks).join(', ')}`)
    .option(
      '--json',
      'prints a list of {"check", "state", "finding", "fix"}; a state is ok, info, warning, error or skipped',
    )
    .action(async ({ only = [], json }: { only?: string[]; json?: true }) => {
      const unknown = only.find((name) => !Object.hasOwn(checks, name))
      if (unknown !== undefined) return program.error(`error: there is no check '${unknown}'`)
      const lines = await runChecks(createParts(terminal().env, program.version()!), only)
      if (lines.some(({ state }) => state === 'error')) fail()
      if (json) return printJson(lines.map((line) => ({ ...line, fix: line.fix ?? null })))
      printLines(lines)
    })
}
