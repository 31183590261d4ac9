/**
 * `npm run mutate [-- <id or its beginning>…]`: breaks one rule at a time in a copy of the sources, and runs the tests that
 * concern it. Prints a line for each mutant and at the end one JSON line. Exits with 1 when fewer than 95 % are noticed, or one
 * that has no other keeper is not.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { applyMutant, type Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIES = Number(process.env.COPIES ?? Math.min(2, availableParallelism()))
/** A mutant may make a test wait for ever: then it is noticed. Milliseconds. */
const PATIENCE = 300_000
/** All of them, without a mutant, on a machine that has other things to do. */
const PATIENCE_AT_FIRST = 3_600_000
const GOAL = 0.95

const say = (text: string) => void process.stderr.write(`${text}\n`)

type Outcome = 'noticed' | 'hangs' | 'not noticed'

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
  const args = ['run', '--bail=1', '--reporter=dot', ...tests]
  const child = spawn(join(bin, 'vitest'), args, {
    cwd: dir,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  let hangs = false
  const timer = setTimeout(() => {
    hangs = true
    child.kill('SIGTERM')
  }, patience)
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ failed: code !== 0, hangs, output })
    })
  })
}

async function tryMutant(dir: string, mutant: Mutant): Promise<Outcome> {
  const path = join(dir, mutant.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, applyMutant(mutant, original))
  try {
    // What does not parse would be noticed for the wrong reason.
    if (path.endsWith('.ts')) stripTypeScriptTypes(readFileSync(path, 'utf8'))
    const { failed, hangs } = await runTests(dir, mutant.tests)
    return hangs ? 'hangs' : failed ? 'noticed' : 'not noticed'
  } finally {
    writeFileSync(path, original)
  }
}

async function main() {
  const asked = process.argv.slice(2)
  const chosen = mutants.filter(({ id }) => !asked.length || asked.some((start) => id.startsWith(start)))
  if (!chosen.length) throw new Error(`No mutant begins with: ${asked.join(', ')}`)
  const scratch = mkdtempSync(join(tmpdir(), 'annal-mutants-'))
  try {
    const copies = Array.from({ length: Math.min(COPIES, chosen.length) }, (_, index) => join(scratch, String(index)))
    for (const dir of copies) makeCopy(dir)
    const files = [...new Set(chosen.flatMap(({ tests }) => tests))]
    say(`${files.length} test files first without any change…`)
    const { failed, output } = await runTests(copies[0]!, files, PATIENCE_AT_FIRST)
    if (failed) throw new Error(`The tests fail without a mutant:\n${output.slice(-4_000)}`)

    const waiting = [...chosen]
    const outcomes = new Map<string, Outcome>()
    await Promise.all(
      copies.map(async (dir) => {
        for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
          const begin = performance.now()
          const outcome = await tryMutant(dir, mutant)
          outcomes.set(mutant.id, outcome)
          const seconds = Math.round((performance.now() - begin) / 1_000)
          const keeper = outcome === 'not noticed' && mutant.instead ? ` (instead: ${mutant.instead})` : ''
          say(`${outcome.padEnd(11)} ${mutant.id} (${seconds} s): ${mutant.breaks}${keeper}`)
        }
      }),
    )
    const unnoticed = chosen.filter(({ id }) => outcomes.get(id) === 'not noticed')
    const share = 1 - unnoticed.length / chosen.length
    const pass = share >= GOAL && unnoticed.every(({ instead }) => instead)
    const figure = { mutants: chosen.length, noticed: chosen.length - unnoticed.length, pass }
    process.stdout.write(`${JSON.stringify({ ...figure, unnoticed: unnoticed.map(({ id }) => id) })}\n`)
    if (!pass) process.exitCode = 1
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

await main()
