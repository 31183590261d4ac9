/** A whole installation of embedded parts in one folder, as an operator has it who runs `npm start`. */
import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { anvilFiles, createRpc, findRunning, type Rpc } from '../../src/embedded/anvil-process.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { runAnnal } from '../../test/support/annal-command.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { silent } from './parts.ts'
import type { ProofContext } from './proof.ts'

const copy = promisify(execFile)

/** What is backed up and restored, each by itself. */
export const kinds = ['database', 'keys', 'blocks', 'chain'] as const
export type Kind = (typeof kinds)[number]

const folderOf: Record<Kind, string> = { database: 'postgres', keys: 'keys', blocks: 'blocks', chain: 'chain' }

export interface CheckFinding {
  id: string
  holds: boolean
  rows: Record<string, string>[]
  isNote: boolean
}

export interface Installation {
  dir: string
  gateway: Gateway
  /** Carries out `work` on the database and the chain beside the running gateway. */
  beside<T>(work: (parts: { database: ConnectedDatabase; rpc: Rpc }) => Promise<T>): Promise<T>
  /** `annal <args>`, beside the gateway or alone. */
  annal(args: readonly string[], input?: string): ReturnType<typeof runAnnal>
  /** `annal check`: what it said and how it ended. */
  check(): Promise<{ code: number; findings: Map<string, CheckFinding> }>
}

/** A gateway of this name on the folder; `extra`: variables of its own. */
export async function openInstallation(
  context: ProofContext,
  name: string,
  dir: string,
  extra: Record<string, string> = {},
): Promise<Installation> {
  // PostgreSQL runs as a user of its own where we are root, and must come through.
  await chmod(context.dir, 0o711)
  await mkdir(dir, { recursive: true, mode: 0o711 })
  const env = {
    ANNAL_DIR: dir,
    ANNAL_EMBEDDED_DEPOSITS: 'true',
    // A minute less than by default.
    CHAIN_DEPOSIT_CONFIRMATIONS: '2',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    LOG_LEVEL: 'info',
    SIGN_UP_POINTS: '100',
    LIMITS: 'sign-up=1000000,sign-in=1000000',
    ...extra,
  }
  const gateway = await createGateway(context, name, env)
  // Before it is killed: its parts end with it then.
  context.afterwards(() => gateway.stop())
  const annal: Installation['annal'] = (args, input) => runAnnal(dir, args, { env: { LOG_LEVEL: 'error' }, input })
  return {
    dir,
    gateway,
    annal,
    async beside(work) {
      const postgres = await startEmbeddedPostgres({ dir, log: silent })
      const database = createDatabase({ url: postgres.url, pool: 2, log: silent })
      try {
        const anvil = await findRunning(anvilFiles(dir))
        const ask: Rpc = anvil ? createRpc(anvil.socket) : () => Promise.reject(new Error('No chain runs there.'))
        return await work({ database, rpc: ask })
      } finally {
        await database.close()
        await postgres.stop()
      }
    },
    async check() {
      const { code, stdout, stderr } = await annal(['check', '--json'])
      if (stdout === '') throw new Error(`annal check said nothing: ${stderr}`)
      const findings = JSON.parse(stdout) as CheckFinding[]
      return { code, findings: new Map(findings.map((finding) => [finding.id, finding])) }
    },
  }
}

/** Copies parts of an installation that does not run, each from its own folder of all parts, with `cp -a`. */
export async function copyParts(from: Record<Kind, string>, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o711 })
  for (const kind of kinds) await copy('cp', ['-a', join(from[kind], folderOf[kind]), to])
}
