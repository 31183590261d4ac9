/** Runs the command line, in its own process or (much faster) in the test's process. */
import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { run } from '../../src/cli/program.ts'

const root = join(import.meta.dirname, '../..')

export type CommandOptions = { env?: Record<string, string>; input?: string }

export const annalCommand = (...args: string[]): [string, ...string[]] => [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(root, 'src/cli.ts'),
  ...args,
]

/** Starts `annal <args>` on the installation in `dir`. The caller must stop it. */
export const startAnnal = (
  dir: string,
  args: readonly string[],
  env: Record<string, string> = {},
  /** The stdio configuration. Defaults to pipes. */
  stdio: StdioOptions = 'pipe',
) => {
  const [program, ...rest] = annalCommand(...args)
  return spawn(program, rest, {
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      ANNAL_DIR: dir,
      // The same compile cache as `npm run annal`.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/annal'),
      ...env,
    },
    stdio,
  }) as ChildProcessWithoutNullStreams
}

export type Said = { code: number; stdout: string; stderr: string }

export async function runAnnal(
  dir: string,
  args: readonly string[],
  { env, input }: CommandOptions = {},
): Promise<Said> {
  const child = startAnnal(dir, args, env)
  const ended = once(child, 'exit')
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await ended) as [number]
  return { code, stdout, stderr }
}

export type HereOptions = { input?: string; isTTY?: boolean; interrupted?: AbortSignal }

function keeping() {
  const parts: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(part, _encoding, done) {
      parts.push(String(part))
      done()
    },
  })
  return { stream, text: () => parts.join('') }
}

/** Runs `annal <args>` in this process, with only these environment variables. */
export async function annalHere(
  env: Record<string, string>,
  args: readonly string[],
  { input = '', isTTY = false, interrupted }: HereOptions = {},
): Promise<Said> {
  const [stdout, stderr] = [keeping(), keeping()]
  const code = await run(args, '1.2.3', {
    env,
    stdin: Object.assign(Readable.from([input]), { isTTY }),
    stdout: stdout.stream,
    stderr: Object.assign(stderr.stream, { isTTY, columns: 80 }),
    exitCode: 0,
    interrupted: interrupted ?? new AbortController().signal,
  })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}
