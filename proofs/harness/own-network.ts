/**
 * A network that belongs to a proof alone: machines as network namespaces of their own, with cables that can be cut without anybody
 * being told. Needs root and Linux. All addresses are of 127.0.0.0/8 and known inside alone; what was made goes with its processes.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { until } from '../../test/support/eventually.ts'
import type { ProofContext, ProofResult } from './proof.ts'

const run = promisify(execFile)
const INSIDE = 'PROOF_NETWORK'

/**
 * Runs `proof` in a network of its own: this program starts itself again in one. Throws where that cannot be had.
 */
export async function inOwnNetwork(
  id: string,
  context: ProofContext,
  proof: (context: ProofContext) => Promise<ProofResult>,
): Promise<ProofResult> {
  if (process.env[INSIDE] === id) return await proof(context)
  for (const tool of ['unshare', 'nsenter', 'ip']) {
    await run('which', [tool]).catch(() => {
      throw new Error(`${id} cuts real networks and needs ${tool}: apt-get install iproute2 util-linux, on Linux.`)
    })
  }
  if (process.getuid?.() !== 0) {
    throw new Error(`${id} cuts real networks in namespaces of its own, which root alone may make: run it as root.`)
  }
  const program = join(import.meta.dirname, '../prove.ts')
  const child = spawn(
    'unshare',
    ['--net', '--', process.execPath, '--disable-warning=ExperimentalWarning', program, id],
    { env: { ...process.env, [INSIDE]: id, SEED: context.seed }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  context.afterwards(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  const said = await text(child.stdout)
  const line = said.trim().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) throw new Error(`${id} ended in its own network without a result.`)
  const result = JSON.parse(line) as Omit<ProofResult, 'reasons'>
  return { ...result, reasons: result.pass ? [] : ['Its reasons stand above.'] }
}

/** A machine of the proof's network. */
export interface Machine {
  /** Where clients reach it, and where the other machines do. */
  readonly hosts: readonly [clients: string, peers: string]
  /** Before a command that is to run there. */
  readonly inside: readonly string[]
}

export interface OwnNetwork {
  readonly machines: readonly [Machine, Machine]
  /** Nothing passes between a machine and all clients, and nobody is told. */
  cutFromClients(machine: Machine): Promise<void>
  /** Nothing passes between the machines. */
  cutFromEachOther(): Promise<void>
  /** Everything passes again. */
  heal(): Promise<void>
}

const addressOf = (number: number) => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`
/** Nobody has it: what is sent there is taken by nobody. */
const nowhere = addressOf(255)

/** One end of a cable. */
interface End {
  /** Before a command that is to run there; nothing: where the clients are. */
  inside: readonly string[]
  device: string
  /** Its own address, and that of the other end. */
  own: string
  other: string
  /** Hardware address of the other end. */
  hardware: string
}

const command = async (inside: readonly string[], line: string) => {
  const [first, ...rest] = [...inside, ...line.split(' ')]
  await run(first!, rest)
}

const tellNeighbour = ({ inside, device, other }: End, hardware: string) =>
  command(inside, `ip neigh replace ${other} lladdr ${hardware} dev ${device} nud permanent`)

async function prepare(inside: readonly string[]): Promise<void> {
  const own = ['sysctl', '-qw', 'net.ipv4.conf.all.route_localnet=1']
  await command(inside, own.join(' '))
  await command(inside, 'ip link set lo up')
  // Not all of it is here.
  await command(inside, 'ip address del 127.0.0.1/8 dev lo')
}

/** Two machines, joined to where this program runs and to each other. Only within `inOwnNetwork`. */
export async function openNetwork({ afterwards }: ProofContext): Promise<OwnNetwork> {
  await prepare([])
  await command([], 'ip address add 127.0.0.1/32 dev lo')
  const here = await readlink('/proc/self/ns/net')

  const startMachine = async (number: number): Promise<Machine> => {
    // It ends with this program, however that ends: nothing keeps its input open then.
    const holder: ChildProcess = spawn('unshare', ['--net', '--', 'cat'], { stdio: ['pipe', 'ignore', 'inherit'] })
    afterwards(async () => {
      const ended = once(holder, 'exit')
      holder.kill('SIGKILL')
      await ended
    })
    await until('the machine has a network', async () => {
      const found = await readlink(`/proc/${holder.pid}/ns/net`).catch(() => here)
      return found !== here
    })
    const inside = ['nsenter', `--net=/proc/${holder.pid}/ns/net`]
    await prepare(inside)
    return { hosts: [`127.0.1.${number}`, `127.0.2.${number}`], inside }
  }
  const machines = [await startMachine(1), await startMachine(2)] as const

  let cables = 0
  /** Joins two places; the address of each end is routed over it from the other. */
  const join = async (
    [from, own]: readonly [readonly string[], string],
    [to, other]: readonly [Machine, string],
  ): Promise<[End, End]> => {
    cables += 1
    const [device, far] = [`cable${cables}a`, `cable${cables}b`]
    const [near, there] = [addressOf(cables * 2), addressOf(cables * 2 + 1)]
    const network = to.inside.at(-1)!.replace('--net=/proc/', '').replace('/ns/net', '')
    await command(
      from,
      `ip link add ${device} address ${near} type veth peer name ${far} address ${there} netns ${network}`,
    )
    const ends: [End, End] = [
      { inside: from, device, own, other, hardware: there },
      { inside: to.inside, device: far, own: other, other: own, hardware: near },
    ]
    for (const end of ends) {
      if (end.own !== '127.0.0.1') await command(end.inside, `ip address add ${end.own}/32 dev ${end.device}`)
      await command(end.inside, `ip link set ${end.device} up`)
      await command(end.inside, `ip route add ${end.other}/32 dev ${end.device} src ${end.own}`)
      await tellNeighbour(end, end.hardware)
    }
    return ends
  }
  const toClients = new Map<Machine, [End, End]>()
  for (const machine of machines) toClients.set(machine, await join([[], '127.0.0.1'], [machine, machine.hosts[0]]))
  const between = await join([machines[0].inside, machines[0].hosts[1]], [machines[1], machines[1].hosts[1]])

  const cut = async (ends: readonly End[]) => {
    for (const end of ends) await tellNeighbour(end, nowhere)
  }
  return {
    machines,
    cutFromClients: (machine) => cut(toClients.get(machine)!),
    cutFromEachOther: () => cut(between),
    async heal() {
      for (const end of [...[...toClients.values()].flat(), ...between]) await tellNeighbour(end, end.hardware)
    },
  }
}
