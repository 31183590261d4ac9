/** What an example needs around it: a gateway as `npm start` has it, and what serves the built page. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findFreePort } from '../../../src/embedded/server-process.ts'
import { until } from '../../support/eventually.ts'

const root = join(import.meta.dirname, '../../..')

export interface Served {
  url: string
  /** SIGTERM, and waits. */
  stop(): Promise<void>
}

const isServing = (url: string) =>
  fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    () => false,
  )

/** Waits until a process answers with 200. Throws, with what it said, when it ends before. */
async function serve(child: ChildProcess, url: string, path: string): Promise<Served> {
  const output = Promise.all([text(child.stdout!), text(child.stderr!)])
  await until(
    `${url}${path} answers`,
    async () => {
      if (child.exitCode !== null) throw new Error(`It ended before it served: ${(await output).join('\n')}`)
      return isServing(`${url}${path}`)
    },
    180_000,
    50,
  )
  return {
    url,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A gateway with its embedded parts in the folder `dir`, with these variables besides; on a port that was chosen before, if one is given. */
export async function serveGateway(
  dir: string,
  variables: Record<string, string> = {},
  port?: number,
): Promise<Served> {
  port ??= await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'src/main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/annal'),
      ANNAL_DIR: join(dir, 'annal'),
      PORT: String(port),
      PUBLIC_URL: url,
      ALLOW_INSECURE_WEBHOOKS: 'true',
      ANNAL_EMBEDDED_DEPOSITS: 'true',
      LOG_LEVEL: 'warn',
      ...variables,
    },
  })
  return serve(child, url, '/readyz')
}

/** The built example in `folder`, served by Vite with these variables; on a port that was chosen before, if one is given. */
export async function servePage(folder: string, env: Record<string, string>, port?: number): Promise<Served> {
  port ??= await findFreePort()
  const vite = join(folder, 'node_modules/vite/bin/vite.js')
  const child = spawn(
    process.execPath,
    [vite, 'preview', '--host', '127.0.0.1', '--port', String(port), '--strictPort'],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    },
  )
  return serve(child, `http://127.0.0.1:${port}`, '/')
}
