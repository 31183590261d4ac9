/** A complete installation with embedded services in one folder, as `npm start` runs it. */
import { execFile } from 'node:child_process'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { createRpc, findEmbeddedAnvil, type Rpc } from '../../src/embedded/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { socketPathOf } from '../../src/embedded/local-socket.ts'
import { runAnnal } from '../../test/support/annal-command.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { silent } from './parts.ts'
import type { ProofContext } from './proof.ts'

const copy = promisify(execFile)

/** Parts that are backed up and restored separately. */
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
  /** Runs `work` on the database and the chain while the gateway is running. */
  beside<T>(work: (parts: { database: ConnectedDatabase; rpc: Rpc }) => Promise<T>): Promise<T>
  /** Runs `annal <args>`, with or without a running gateway. */
  annal(args: readonly string[], input?: string): ReturnType<typeof runAnnal>
  /** Runs `annal check`. Returns its exit code and findings. */
  check(): Promise<{ code: number; findings: Map<string, CheckFinding> }>
}

/** Opens a gateway on the folder. `extra`: additional environment variables. */
export async function openInstallation(
  context: ProofContext,
  name: string,
  dir: string,
  extra: Record<string, string> = {},
): Promise<Installation> {
  // As root, PostgreSQL runs as another user, and needs access to the folder.
  await chmod(context.dir, 0o711)
  await mkdir(dir, { recursive: true, mode: 0o711 })
  const env = {
    ANNAL_DIR: dir,
    ANNAL_EMBEDDED_DEPOSITS: 'true',
    // Less than the default, which saves a minute.
    CHAIN_DEPOSIT_CONFIRMATIONS: '2',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    LOG_LEVEL: 'info',
    SIGN_UP_POINTS: '100',
    LIMITS: 'sign-up=1000000,sign-in=1000000',
    ...extra,
  }
  const gateway = await createGateway(context, name, env)
  // Runs before the kill, so that the embedded services stop, too.
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
        const anvil = await findEmbeddedAnvil(dir)
        const ask: Rpc = anvil
          ? createRpc(socketPathOf(anvil.rpcUrl)!)
          : () => Promise.reject(new Error('No chain runs there.'))
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

/** Copies parts of stopped installations with `cp -a`. Each part can come from another folder. */
export async function copyParts(from: Record<Kind, string>, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o711 })
  for (const kind of kinds) await copy('cp', ['-a', join(from[kind], folderOf[kind]), to])
}
