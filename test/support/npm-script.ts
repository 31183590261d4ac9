import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'
import { fundedKey } from './test-app.ts'
import { createTestDatabase } from './test-database.ts'

const root = join(import.meta.dirname, '../..')

const statusOf = (url: string) =>
  fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    },
    () => undefined,
  )

export async function startNpmScript(script: string) {
  const dir = await mkdtemp(join(tmpdir(), 'annal-npm-'))
  const database = await createTestDatabase()
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const npm = spawn('npm', ['run', script], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      PORT: String(port),
      ANNAL_DIR: dir,
      DATABASE_URL: database.url,
      CHAIN_RPC_URL: inject('rpcUrl'),
      CHAIN_RELAY_KEYS: await fundedKey(),
      CHAIN_DEPLOY_REGISTRY: 'true',
    },
  })
  const output = Promise.all([text(npm.stdout), text(npm.stderr)])
  const ended = once(npm, 'exit').then(async ([code, signal]) => ({ code, signal, output: (await output).join('\n') }))
  // Child processes of a dead npm remain in its process group.
  const killGroup = () => {
    try {
      process.kill(-npm.pid!, 'SIGKILL')
    } catch {
      // The process group is empty.
    }
  }
  const waitForStatus = async (check: (status: number | undefined) => boolean) => {
    await eventually(
      async () => {
        if (npm.exitCode !== null) throw new Error(`npm run ${script} ended: ${(await ended).output}`)
        return statusOf(`${url}/readyz`)
      },
      check,
      60_000,
    )
  }
  return {
    url,
    npm,
    ended,
    answers: () => waitForStatus((status) => status !== undefined),
    ready: () => waitForStatus((status) => status === 200),
    isListening: async () => (await statusOf(`${url}/healthz`)) !== undefined,
    async remove() {
      killGroup()
      await ended
      await database.drop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

export type NpmScript = Awaited<ReturnType<typeof startNpmScript>>
