/**
 * `npm run mutate [-- --record <file>] [<id or its beginning>…]`: breaks one rule at a time in a copy of the sources, and runs the
 * tests that concern it. Prints a line for each mutant and at the end one JSON line. Exits with 1 when fewer than 95 % are noticed,
 * or one that has no other keeper is not. With `--record`, what became of each is kept in a file, and a mutant that stands in it is
 * not tried again while it, the file it changes and its tests are the same.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { applyMutant, type Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'
import { MutantRecord, type Result } from './record.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIES = Number(process.env.COPIES ?? Math.min(2, availableParallelism()))
/** A mutant may make a test wait for ever: then it is noticed. Milliseconds. */
const PATIENCE = 300_000
/** All of them, without a mutant, on a machine that has other things to do. */
const PATIENCE_AT_FIRST = 3_600_000
/** What a test waits for never comes when the mutant keeps it away. With no mutant, all come in this time. */
const TEST_PATIENCE_MS = 20_000
const TEST_TIMEOUT_MS = 60_000
const GOAL = 0.95

const say = (text: string) => void process.stderr.write(`${text}\n`)

/** The sources as they stand, with the modules of this checkout. */
function makeCopy(dir: string) {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    cpSync(join(ROOT, file), join(dir, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
}

interface Run {
  failed: boolean
  hangs: boolean
  output: string
}

/** Runs test files in a copy, those of processes after the others, unless one of these has failed. */
async function runTests(dir: string, tests: string[], patience = PATIENCE): Promise<Run> {
  const isOfProcesses = (file: string) => file.startsWith('test/processes/')
  const files = tests.map((test) => join('test', test))
  const others = files.filter((file) => !isOfProcesses(file))
  const processes = files.filter(isOfProcesses)
  const run = others.length > 0 ? await runVitest(dir, others, patience) : undefined
  if (run?.failed || processes.length === 0) return run!
  return runVitest(dir, ['--config', 'test/processes/vitest.config.ts', ...processes], patience)
}

function runVitest(dir: string, tests: string[], patience: number): Promise<Run> {
  const bin = join(ROOT, 'node_modules/.bin')
  const timeouts = [`--testTimeout=${TEST_TIMEOUT_MS}`, `--hookTimeout=${TEST_TIMEOUT_MS}`]
  const args = ['run', '--bail=1', '--reporter=dot', ...timeouts, ...tests]
  const child = spawn(join(bin, 'vitest'), args, {
    cwd: dir,
    env: {
      ...process.env,
      PATH: `${bin}:${process.env.PATH}`,
      TEST_PATIENCE_MS: String(TEST_PATIENCE_MS),
      // Most of what a test file takes is reading the sources, of which all but one are the same each time.
      NODE_COMPILE_CACHE: join(dir, '../compiled'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const stop = () => child.kill('SIGTERM')
  process.once('exit', stop)
  let hangs = false
  const timer = setTimeout(() => {
    hangs = true
    stop()
  }, patience)
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      process.off('exit', stop)
      resolve({ failed: code !== 0, hangs, output: stripVTControlCharacters(output) })
    })
  })
}

/** The first test that failed, and the first line of why; where none did, the last that was said. */
function findFailure(output: string): string {
  const [, test, why] = /^ *FAIL +(.*)\n(.*)/m.exec(output) ?? []
  return test === undefined ? `no test: ${output.trim().slice(-500)}` : `${test}: ${why}`
}

async function tryMutant(dir: string, mutant: Mutant): Promise<Result> {
  const path = join(dir, mutant.file)
  const original = readFileSync(path, 'utf8')
  const begin = performance.now()
  writeFileSync(path, applyMutant(mutant, original))
  try {
    // What does not parse would be noticed for the wrong reason.
    if (path.endsWith('.ts')) stripTypeScriptTypes(readFileSync(path, 'utf8'))
    const { failed, hangs, output } = await runTests(dir, mutant.tests)
    const seconds = Math.round((performance.now() - begin) / 1_000)
    if (hangs) return { outcome: 'hangs', seconds }
    return failed ? { outcome: 'noticed', by: findFailure(output), seconds } : { outcome: 'not noticed', seconds }
  } finally {
    writeFileSync(path, original)
  }
}

function tell({ id, breaks, instead }: Mutant, { outcome, seconds }: Result) {
  const keeper = outcome === 'not noticed' && instead ? ` (instead: ${instead})` : ''
  say(`${outcome.padEnd(11)} ${id} (${seconds} s): ${breaks}${keeper}`)
}

/** Tries those that are not in the record yet, and adds them. */
async function tryAll(waiting: Mutant[], record: MutantRecord) {
  const scratch = mkdtempSync(join(tmpdir(), 'annal-mutants-'))
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
  const copies = Array.from({ length: Math.min(COPIES, waiting.length) }, (_, index) => join(scratch, String(index)))
  for (const dir of copies) makeCopy(dir)
  const files = [...new Set(waiting.flatMap(({ tests }) => tests))]
  say(`${files.length} test files first without any change…`)
  const { failed, output } = await runTests(copies[0]!, files, PATIENCE_AT_FIRST)
  if (failed) throw new Error(`The tests fail without a mutant:\n${output.slice(-4_000)}`)
  await Promise.all(
    copies.map(async (dir) => {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const result = await tryMutant(dir, mutant)
        record.add(mutant, result)
        tell(mutant, result)
      }
    }),
  )
}

async function main() {
  const { values, positionals } = parseArgs({ options: { record: { type: 'string' } }, allowPositionals: true })
  const chosen = mutants.filter(({ id }) => !positionals.length || positionals.some((start) => id.startsWith(start)))
  if (!chosen.length) throw new Error(`No mutant begins with: ${positionals.join(', ')}`)
  const record = new MutantRecord(ROOT, values.record)
  const waiting = chosen.filter((mutant) => !record.find(mutant))
  if (waiting.length < chosen.length) say(`${chosen.length - waiting.length} stand in the record.`)
  if (waiting.length > 0) await tryAll(waiting, record)
  const unnoticed = chosen.filter((mutant) => record.find(mutant)?.outcome === 'not noticed')
  const share = 1 - unnoticed.length / chosen.length
  const pass = share >= GOAL && unnoticed.every(({ instead }) => instead)
  const figure = { mutants: chosen.length, noticed: chosen.length - unnoticed.length, pass }
  process.stdout.write(`${JSON.stringify({ ...figure, unnoticed: unnoticed.map(({ id }) => id) })}\n`)
  if (!pass) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main()
