/** HAProxy and nginx on loopback, with the configuration of `deploy/`. Only addresses and file locations are replaced. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from '../../test/support/eventually.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { trySend } from '../../test/support/http-client.ts'
import type { ProofContext } from './proof.ts'

export type BalancerKind = 'haproxy' | 'nginx'

/** A gateway behind a load balancer. */
export interface Backend {
  name: string
  url: string
  /** Port of the health check. */
  healthPort: number
}

export interface Balancer {
  kind: BalancerKind
  url: string
  /** Waits until the load balancer sends requests to this backend. */
  isUsed(backend: Backend): Promise<void>
  /** Removes a backend before it is stopped, as an operator does. Only needed for load balancers without health checks. */
  takeOut(backend: Backend): Promise<void>
  takeIn(backend: Backend): Promise<void>
  /** Reloads the configuration under load. */
  reload(): Promise<void>
}

const deploy = join(import.meta.dirname, '../../deploy')

/** Replaces a pattern in the configuration. Throws if the pattern does not match. */
function exchange(source: string, [find, replacement]: [RegExp, string]): string {
  if (!find.test(source)) throw new Error(`The balancer's file has nothing like ${find}.`)
  return source.replace(find, replacement)
}

/** Makes the configuration faulty, for a control. */
export type Spoil = (file: string) => string

interface Program {
  start(): ChildProcess
  signal: NodeJS.Signals
  /** Writes the configuration file. `out`: names of backends to exclude. */
  write(out: ReadonlySet<string>): Promise<void>
  isUsed(backend: Backend): Promise<boolean>
}

async function haproxy(dir: string, port: number, backends: readonly Backend[], spoil: Spoil): Promise<Program> {
  const file = join(dir, 'haproxy.cfg')
  const socket = join(dir, 'admin.sock')
  const servers = backends.map(
    ({ name, url, healthPort }) => `    server ${name} ${new URL(url).host} check port ${healthPort}`,
  )
  const isRoot = process.getuid?.() === 0
  const exchanges: [RegExp, string][] = [
    [/^ {4}bind :80$/m, `    bind 127.0.0.1:${port}`],
    [/^ {4}log \/dev\/log local0$/m, '    log stdout format raw local0'],
    [/\/run\/haproxy\/admin\.sock mode 660/, `${socket} mode 600`],
    [/^ {4}server gateway-1 .*\n {4}server gateway-2 .*$/m, servers.join('\n')],
    // Only root can change the user of the process.
    ...(isRoot ? [] : ([[/^ {4}user haproxy\n {4}group haproxy\n/m, '']] as [RegExp, string][])),
  ]
  const stats = async () => {
    const client = connect(socket)
    client.end('show stat\n')
    return text(client)
  }
  return {
    start: () => spawn('haproxy', ['-W', '-f', file], { stdio: ['ignore', openSync(join(dir, 'log'), 'a'), 'pipe'] }),
    signal: 'SIGUSR2',
    write: async () =>
      writeFile(file, spoil(exchanges.reduce(exchange, await readFile(join(deploy, 'haproxy/haproxy.cfg'), 'utf8')))),
    async isUsed({ name }) {
      const lines = (await stats().catch(() => '')).split('\n')
      return lines.some((line) => line.startsWith(`annal,${name},`) && line.split(',')[17]?.startsWith('UP'))
    },
  }
}

async function nginx(dir: string, port: number, backends: readonly Backend[], spoil: Spoil): Promise<Program> {
  const [main, file] = [join(dir, 'nginx.conf'), join(dir, 'annal.conf')]
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/tmp;`)
  const lines = [
    // As root, workers also run as root. Otherwise they could not access the scratch directory.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    ...['daemon off;', 'worker_processes 2;', `pid ${dir}/pid;`, `error_log ${dir}/error.log info;`],
    ...['events { worker_connections 4096; }', 'http {', 'access_log off;', ...temporary, `include ${file};`, '}'],
  ]
  await writeFile(main, lines.join('\n'))
  return {
    start: () => spawn('nginx', ['-c', main, '-e', join(dir, 'error.log')], { stdio: ['ignore', 'ignore', 'pipe'] }),
    signal: 'SIGHUP',
    async write(out) {
      const servers = backends.map(
        ({ name, url }) =>
          `    server ${new URL(url).host} max_fails=3 fail_timeout=5s${out.has(name) ? ' down' : ''};`,
      )
      const exchanges: [RegExp, string][] = [
        [/^ {4}listen 80;$/m, `    listen 127.0.0.1:${port};`],
        [
          /^ {4}server 10\.0\.0\.11:4000 max_fails=3 fail_timeout=5s;\n {4}server 10\.0\.0\.12:4000 .*$/m,
          servers.join('\n'),
        ],
      ]
      await writeFile(file, spoil(exchanges.reduce(exchange, await readFile(join(deploy, 'nginx/annal.conf'), 'utf8'))))
    },
    // nginx has no active health checks.
    isUsed: async () => true,
  }
}

/** Returns the child processes of a process. */
const childrenOf = async (pid: number) =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((each) => each !== '')

/** Starts a load balancer in front of `backends`. Throws an error with installation instructions if the program is missing. */
export async function startBalancer(
  { dir: scratch, afterwards }: Pick<ProofContext, 'dir' | 'afterwards'>,
  kind: BalancerKind,
  backends: readonly Backend[],
  spoil: Spoil = (file) => file,
): Promise<Balancer> {
  const port = await findFreePort()
  const dir = join(scratch, `${kind}-${port}`)
  await mkdir(dir)
  const program = await { haproxy, nginx }[kind](dir, port, backends, spoil)
  const out = new Set<string>()
  await program.write(out)
  const child = program.start()
  const said = text(child.stderr!)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ENOENT' ? `${kind} is missing: apt-get install ${kind}` : String(error)),
    )
    child.once('exit', async (code) => resolve(`${kind} ended with ${code}: ${await said}`))
  })
  let end: string | undefined
  void ended.then((how) => {
    end = how
  })
  const url = `http://127.0.0.1:${port}`
  afterwards(async () => {
    // This signal stops the workers immediately, without waiting for requests.
    child.kill(kind === 'haproxy' ? 'SIGINT' : 'SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(timer)
  })
  const listens = async () => {
    if (end) throw new Error(end)
    return (await trySend(`${url}/metrics`)).status === 404
  }
  await until(`${kind} listens; see ${dir}`, listens, 20_000, 20)

  const reload = async () => {
    const before = new Set(await childrenOf(child.pid!))
    child.kill(program.signal)
    await until(
      `${kind} has read its file again`,
      async () => (await childrenOf(child.pid!)).some((pid) => !before.has(pid)) && listens(),
      20_000,
      20,
    )
  }
  const rewrite = async () => {
    // HAProxy checks the health of its backends itself.
    if (kind === 'haproxy') return
    await program.write(out)
    await reload()
  }
  return {
    kind,
    url,
    isUsed: (backend) =>
      until(`${kind} uses ${backend.name}`, () => program.isUsed(backend), 60_000, 50).then(() => undefined),
    async takeOut({ name }) {
      out.add(name)
      await rewrite()
    },
    async takeIn({ name }) {
      out.delete(name)
      await rewrite()
    },
    reload,
  }
}
