/** Command `doctor`. */
import type { Command } from 'commander'
import { FixableError } from '../../shared/operator-errors.ts'
import { command } from '../command.ts'
import { counted, fail, green, print, printJson, red, report, terminal, usageError, yellow } from '../terminal.ts'
import type { Checks, Diagnoses, Diagnosis, Parts, State } from './diagnosis.ts'
import { createParts, failure, messageOf, ok, SkippedError } from './diagnosis.ts'

/** Loads all checks, in output order. */
export async function loadChecks(): Promise<Checks> {
  const { configurationChecks } = await import('./configuration-checks.ts')
  const { databaseChecks } = await import('./database-checks.ts')
  const { storageChecks } = await import('./storage-checks.ts')
  const { chainChecks } = await import('./chain-checks.ts')
  return { ...configurationChecks, ...databaseChecks, ...storageChecks, ...chainChecks }
}

type Line = Diagnosis & { check: string }

/** Timeout of a check, in milliseconds. Long enough to start an embedded server. */
const TIMEOUT_MS = 70_000

async function collect(diagnoses: Diagnoses, into: Diagnosis[]): Promise<void> {
  let step = await diagnoses.next()
  for (; !step.done; step = await diagnoses.next()) into.push(step.value)
  const isFine = into.every(({ state }) => state === 'ok' || state === 'info')
  if (typeof step.value === 'object') into.push(step.value as Diagnosis)
  else if (step.value && isFine) into.unshift(ok(step.value as string))
}

async function runCheck(name: string, check: Checks[string], parts: Parts): Promise<Line[]> {
  const diagnoses: Diagnosis[] = []
  const { promise: late, reject } = Promise.withResolvers<never>()
  const expire = () => reject(new Error(`No result after ${TIMEOUT_MS / 1_000} seconds.`))
  AbortSignal.timeout(TIMEOUT_MS).addEventListener('abort', expire)
  try {
    await Promise.race([collect(check(parts), diagnoses), late])
  } catch (error) {
    const fix = 'Fix the reported reason, then run the command again.'
    if (error instanceof SkippedError) diagnoses.push({ state: 'skipped', finding: error.message })
    else if (error instanceof FixableError) diagnoses.push(failure(error.finding, error.fix))
    else diagnoses.push(failure(`The check failed: ${messageOf(error)}`, fix))
  }
  return diagnoses.map((each) => ({ check: name, ...each }))
}

async function runChecks(checks: Checks, parts: Parts, names: readonly string[]): Promise<Line[]> {
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
    .option('--only <check...>', 'names of the checks to run, from the first column of the output')
    .action(async ({ only = [], json }: { only?: string[]; json?: true }) => {
      const checks = await loadChecks()
      const unknown = only.find((name) => !Object.hasOwn(checks, name))
      if (unknown !== undefined)
        throw usageError(`There is no check '${unknown}'. Checks: ${Object.keys(checks).join(', ')}.`)
      const lines = await runChecks(checks, createParts(terminal().env, program.version()!), only)
      if (lines.some(({ state }) => state === 'error')) fail()
      if (json) return printJson(lines.map((line) => ({ ...line, fix: line.fix ?? null })))
      printLines(lines)
    })
}
