/** A copy of the sources, in which one thing at a time is broken and tests are run. */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts'
import { createTestLog } from '../support/test-log.ts'
import { applyMutant, type Mutant } from './mutant.ts'

/** What a test waits for never comes when the mutant keeps it away. With no mutant, all come in this time. */
const TEST_PATIENCE_MS = 20_000
const TEST_TIMEOUT_MS = 60_000

/** What came of running tests. */
export interface Run {
  failed: boolean
  hangs: boolean
  output: string
}

const isOfProcesses = (file: string) => file.startsWith('test/processes/')

/** What the shared server was prepared with must be what its tests run on. */
const isOfServer = ({ file }: Mutant) => file.startsWith('prisma/') || file.startsWith('src/platform/')

/** A copy of the checkout at `root`, with its modules, and a server of PostgreSQL that stays from run to run. */
export class Copy {
  readonly #root: string
  readonly #dir: string
  readonly #broken: AbortSignal
  #postgres: EmbeddedPostgres | undefined

  /** `broken`: what runs is then stopped. */
  constructor(root: string, dir: string, broken: AbortSignal) {
    this.#root = root
    this.#dir = dir
    this.#broken = broken
  }

  async start() {
    const args = ['ls-files', '-co', '--exclude-standard', '-z']
    const files = execFileSync('git', args, { cwd: this.#root, encoding: 'utf8' })
    for (const file of files.split('\0').filter(Boolean)) {
      mkdirSync(dirname(join(this.#dir, file)), { recursive: true })
      cpSync(join(this.#root, file), join(this.#dir, file))
    }
    symlinkSync(join(this.#root, 'node_modules'), join(this.#dir, 'node_modules'))
    this.#postgres = await startEmbeddedPostgres({ dir: this.#postgresDir, log: createTestLog() })
  }

  async stop() {
    await this.#postgres?.stop()
  }

  /**
   * Runs the mutant's tests with its change in the sources. Raises an Error when the change does not fit, and when what comes of it
   * does not parse: that would be noticed for the wrong reason.
   */
  async runWith(mutant: Mutant, patienceMs: number): Promise<Run> {
    const path = join(this.#dir, mutant.file)
    const original = readFileSync(path, 'utf8')
    const changed = applyMutant(mutant, original)
    if (path.endsWith('.ts')) stripTypeScriptTypes(changed)
    writeFileSync(path, changed)
    try {
      return await this.run(mutant.tests, patienceMs, { hasOwnServer: isOfServer(mutant) })
    } finally {
      writeFileSync(path, original)
    }
  }

  /**
   * Runs test files, named below `test/`; those of processes after the others, unless one of these has failed. `hasOwnServer`: they
   * start a server of PostgreSQL themselves.
   */
  async run(tests: string[], patienceMs: number, { hasOwnServer = false } = {}): Promise<Run> {
    const env = hasOwnServer ? {} : { TEST_POSTGRES_DIR: this.#postgresDir }
    const files = tests.map((test) => join('test', test))
    const others = files.filter((file) => !isOfProcesses(file))
    const processes = files.filter(isOfProcesses)
    const run = others.length > 0 ? await this.#runVitest(others, patienceMs, env) : undefined
    if (run?.failed || processes.length === 0) return run!
    return this.#runVitest(['--config', 'test/processes/vitest.config.ts', ...processes], patienceMs, env)
  }

  get #postgresDir() {
    return `${this.#dir}-server`
  }

  #runVitest(args: string[], patienceMs: number, env: object): Promise<Run> {
    const bin = join(this.#root, 'node_modules/.bin')
    const timeouts = [`--testTimeout=${TEST_TIMEOUT_MS}`, `--hookTimeout=${TEST_TIMEOUT_MS}`]
    const child = spawn(join(bin, 'vitest'), ['run', '--bail=1', '--reporter=dot', ...timeouts, ...args], {
      cwd: this.#dir,
      env: {
        ...process.env,
        ...env,
        PATH: `${bin}:${process.env.PATH}`,
        TEST_PATIENCE_MS: String(TEST_PATIENCE_MS),
        // Most of what a test file takes is reading the sources, of which all but one are the same each time.
        NODE_COMPILE_CACHE: `${this.#dir}-compiled`,
      },
      signal: this.#broken,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    let hangs = false
    const timer = setTimeout(() => {
      hangs = true
      child.kill('SIGTERM')
    }, patienceMs)
    return new Promise<Run>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ failed: code !== 0, hangs, output: stripVTControlCharacters(output) }))
    }).finally(() => clearTimeout(timer))
  }
}
