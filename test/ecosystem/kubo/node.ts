/** Kubo nodes of the tests' own: each with a repository of its own, on loopback only, and known to nobody. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createKuboContentStore } from '../../../src/files/kubo-store.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'

const VERSION = 'v0.40.1'
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/annal-kubo', VERSION)

const carryOut = promisify(execFile)

const answers = (program: string) =>
  carryOut(program, ['version', '--number']).then(
    () => true,
    () => false,
  )

const build = async () => {
  const program = join(FOLDER, 'ipfs')
  if (existsSync(program)) return program
  await mkdir(FOLDER, { recursive: true })
  for (const name of ['go.mod', 'go.sum', 'tools.go'])
    await copyFile(join(import.meta.dirname, name), join(FOLDER, name))
  const made = join(FOLDER, `ipfs.${process.pid}`)
  const args = ['build', '-p', '1', '-o', made, 'github.com/ipfs/kubo/cmd/ipfs']
  await carryOut('go', args, { cwd: FOLDER, maxBuffer: 10_000_000 }).catch((error: unknown) => {
    const said = (error as { stderr?: string }).stderr ?? ''
    throw new Error(
      `npm run test:ecosystem -- kubo needs Kubo. Install it so that \`ipfs\` is on the PATH, name it by KUBO=<path of the program>, or install Go 1.25 or later (https://go.dev/dl), with which Kubo ${VERSION} is built from Go's module proxy. ${said}`,
    )
  })
  await rename(made, program)
  return program
}

const install = async () => {
  if (!process.env.KUBO) return (await answers('ipfs')) ? 'ipfs' : build()
  if (await answers(process.env.KUBO)) return process.env.KUBO
  throw new Error(`KUBO names ${process.env.KUBO}, which is no Kubo that runs.`)
}

let program: Promise<string> | undefined

export type KuboOptions = { profile?: string; router?: string; isOpen?: boolean }

const quiet = (port: number, gatewayPort: number, router: string | undefined, isOnline: boolean) => ({
  Addresses: {
    Swarm: isOnline ? ['/ip4/127.0.0.1/tcp/0'] : [],
    API: `/ip4/127.0.0.1/tcp/${port}`,
    Gateway: `/ip4/127.0.0.1/tcp/${gatewayPort}`,
    Announce: [],
    AppendAnnounce: [],
    NoAnnounce: [],
  },
  AutoConf: { Enabled: false },
  AutoTLS: { Enabled: false },
  Bootstrap: [],
  Discovery: { MDNS: { Enabled: false } },
  DNS: { Resolvers: {} },
  Ipns: { DelegatedPublishers: [] },
  Provide: { Enabled: false },
  Routing: router ? { Type: 'delegated', DelegatedRouters: [router] } : { Type: 'none', DelegatedRouters: [] },
  // A gateway on this machine has a certificate that nobody signed.
  HTTPRetrieval: { Enabled: router !== undefined, Allowlist: ['127.0.0.1'], TLSInsecureSkipVerify: true },
  Swarm: { DisableNatPortMap: true, RelayClient: { Enabled: false }, Transports: { Network: { Relay: false } } },
})

export const startKubo = async ({ profile, router, isOpen = false }: KuboOptions = {}) => {
  const isOnline = isOpen || router !== undefined
  program ??= install()
  const kubo = await program
  const dir = await mkdtemp(join(tmpdir(), 'annal-ipfs-'))
  const env = { PATH: process.env.PATH, HOME: dir, IPFS_PATH: dir, IPFS_TELEMETRY: 'off' }
  const ipfs = async (...args: string[]) => (await carryOut(kubo, args, { env, maxBuffer: 100_000_000 })).stdout
  const [port, gatewayPort] = [await findFreePort(), await findFreePort()]
  await ipfs('init', ...(profile ? [`--profile=${profile}`] : []))
  const config = JSON.parse(await readFile(join(dir, 'config'), 'utf8'))
  const text = JSON.stringify({ ...config, ...quiet(port, gatewayPort, router, isOnline) })
  await writeFile(join(dir, 'config'), text)
  const url = `http://127.0.0.1:${port}`
  const { isReachable } = createKuboContentStore({ url })
  let daemon: ChildProcess | undefined

  const start = async () => {
    const args = ['daemon', ...(isOnline ? [] : ['--offline'])]
    const said: string[] = []
    daemon = spawn(kubo, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [daemon.stdout!, daemon.stderr!]) stream.on('data', (piece) => said.push(String(piece)))
    const ended = once(daemon, 'exit').then(() => {
      throw new Error(`Kubo ended: ${said.join('')}`)
    })
    ended.catch(() => undefined)
    await Promise.race([eventually(isReachable, Boolean, 120_000), ended])
  }
  const end = async (signal: NodeJS.Signals) => {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return
    const ended = once(daemon, 'exit')
    daemon.kill(signal)
    await ended
  }

  await start()
  return {
    url,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    ipfs,
    blockCount: async () =>
      (await readdir(join(dir, 'blocks'), { recursive: true })).filter((name) => name.endsWith('.data')).length,
    start,
    kill: () => end('SIGKILL'),
    freeze: () => void daemon!.kill('SIGSTOP'),
    thaw: () => void daemon!.kill('SIGCONT'),
    async stop() {
      await end('SIGKILL')
      await rm(dir, { recursive: true, force: true })
    },
  }
}

export type KuboNode = Awaited<ReturnType<typeof startKubo>>
