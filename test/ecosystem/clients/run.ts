/**
 * `npm run test:ecosystem -- clients [<name>…]`: installs each project below this folder from its lock file and runs it against a server with
 * embedded parts. Then it runs the commands of its page in `docs/clients/` in a copy of the project. Skips projects whose tools are missing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createGateway } from '../../../proofs/harness/gateway.ts'
import { runAnnal } from '../../support/annal-command.ts'
import { npmEnvironment } from '../../support/npm-environment.ts'
import { commandsOf, pages } from './pages.ts'

type Command = [program: string, ...args: string[]]

interface Kind {
  /** File that identifies a project of this kind. */
  manifest: string
  /** Required programs. */
  needs: string[]
  steps: Command[]
}

const kinds: Kind[] = [
  {
    manifest: 'package.json',
    needs: ['npm'],
    steps: [
      ['npm', 'ci', '--no-audit', '--no-fund'],
      ['npm', 'test'],
    ],
  },
  {
    manifest: 'go.mod',
    needs: ['go'],
    steps: [
      ['sh', 'generate.sh'],
      ['go', 'vet', './...'],
      ['go', 'run', './life'],
    ],
  },
  {
    manifest: 'pom.xml',
    needs: ['java', 'mvn'],
    steps: [
      ['sh', 'generate.sh'],
      ['mvn', '--batch-mode', '--quiet', 'compile', 'exec:exec'],
    ],
  },
  {
    manifest: 'requirements.txt',
    needs: ['python3'],
    steps: [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '--quiet', '--requirement', 'requirements.txt', '--constraint', 'constraints.txt'],
      ['sh', 'generate.sh'],
      ['.venv/bin/mypy'],
      ['.venv/bin/python', 'life.py'],
    ],
  },
]

/** Generates clients for Java, Go, Python and TypeScript. It needs Java and comes from Maven Central. */
const OPENAPI_GENERATOR = { prefix: 'openapi-generator-', needs: ['java', 'mvn'] }

/** Timeout of one command of a project, in milliseconds. */
const TIMEOUT_MS = 600_000

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** Runs a command. Returns its output if it failed, otherwise null. */
async function runCommand(
  [program, ...args]: Command,
  cwd: string,
  env: Record<string, string>,
): Promise<string | null> {
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(TIMEOUT_MS)])
  const child: ChildProcess = spawn(program, args, { cwd, env: { ...npmEnvironment, ...env }, signal })
  const said = Promise.all([text(child.stdout!), text(child.stderr!)])
  try {
    const [code] = await once(child, 'close')
    return code === 0 ? null : `${program} ${args.join(' ')} ended with ${code}\n${(await said).join('')}`
  } catch (error) {
    return `${program} ${args.join(' ')}: ${error instanceof Error ? error.message : error}`
  }
}

const isHere = async (program: string) => (await runCommand(['sh', '-c', `command -v ${program}`], '.', {})) === null

const needsOf = (name: string, { needs }: Kind) =>
  name.startsWith(OPENAPI_GENERATOR.prefix) ? [...needs, ...OPENAPI_GENERATOR.needs] : needs

/** Returns the projects with these names, or all. Throws an error for an unknown name. */
function findProjects(names: readonly string[]) {
  const projects = kinds.flatMap((kind) =>
    globSync(`*/${kind.manifest}`, { cwd: import.meta.dirname }).map((file) => ({ name: dirname(file), kind })),
  )
  const unknown = names.filter((name) => !projects.some((project) => project.name === name))
  if (unknown.length > 0) throw new Error(`No client is named ${unknown.join(', ')}.`)
  return projects
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .sort((one, other) => one.name.localeCompare(other.name))
}

/** Runs an annal command and returns its JSON output. Throws an error with its messages if it fails. */
async function ask(dir: string, args: string[], input = ''): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await runAnnal(dir, [...args, '--json'], { input })
  if (code !== 0) throw new Error(`annal ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Creates an app that a new account can pay, and one that it cannot. */
async function openStore(url: string, token: string) {
  for (const [name, price] of [
    ['upscale', '1.5'],
    ['portrait', '1000'],
  ]) {
    const answer = await fetch(`${url}/api/v3/store/network-apps/`, {
      method: 'POST',
      headers: { Authorization: `token ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, price, price_mode: 'fixed' }),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
}

/** Installs and runs a project. Returns its result. */
async function tryProject(name: string, kind: Kind, env: Record<string, string>) {
  const start = performance.now()
  const seconds = () => `${((performance.now() - start) / 1_000).toFixed(1)} s`
  const tell = (outcome: string) => print(`${name.padEnd(28)} ${outcome}`)
  for (const program of needsOf(name, kind)) {
    if (await isHere(program)) continue
    tell(`skipped: ${program} is not installed`)
    return 'skipped'
  }
  const fail = (failure: string) => {
    tell(`failed after ${seconds()}\n${failure}`)
    return 'failed' as const
  }
  for (const step of kind.steps) {
    const failure = await runCommand(step, join(import.meta.dirname, name), env)
    if (failure !== null) return fail(failure)
  }
  const failure = await followPage(name, env)
  if (failure !== null) return fail(`Its page: ${failure}`)
  tell(`passed in ${seconds()}`)
  return 'passed'
}

/** Runs the commands of a project's page in a copy of the project. Returns the failure, or null. */
async function followPage(project: string, env: Record<string, string>): Promise<string | null> {
  const page = pages.find((each) => each.project === project)
  if (!page) return null
  const folder = await mkdtemp(join(tmpdir(), `annal-page-${project}-`))
  try {
    const isSource = (path: string) => !/node_modules|\.venv/.test(path)
    await cp(join(import.meta.dirname, project), folder, { recursive: true, filter: isSource })
    for (const command of commandsOf(page)) {
      const failure = await runCommand(['sh', '-c', command], folder, env)
      if (failure !== null) return failure
    }
    return null
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const projects = findProjects(process.argv.slice(2))
const dir = await mkdtemp(join(tmpdir(), 'annal-clients-'))
const cleanUps: (() => Promise<void>)[] = []
const count = { passed: 0, failed: 0, skipped: 0 }
try {
  const afterwards = (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp)
  const gateway = await createGateway({ dir, afterwards }, 'gateway', { ANNAL_DIR: dir, PUBLIC_URL: '' })
  cleanUps.push(async () => void (await gateway.stop()))
  await gateway.start()
  const person = ['--username', 'root', '--email', 'root@example.org']
  const { token } = await ask(dir, ['admin', 'create', ...person], 'correct horse battery\n')
  const { key } = await ask(dir, ['api-key', 'issue', '--name', 'clients'])
  await openStore(gateway.url, token!)
  const env = { ANNAL_URL: gateway.url, ANNAL_API_KEY: key!, ANNAL_ADMIN_TOKEN: token! }
  for (const { name, kind } of projects) {
    if (interrupted.signal.aborted) break
    count[await tryProject(name, kind, env)] += 1
  }
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  await rm(dir, { recursive: true, force: true })
}
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
print(`${count.passed} passed, ${count.failed} failed${skipped}`)
process.exitCode = count.failed > 0 || interrupted.signal.aborted ? 1 : 0
