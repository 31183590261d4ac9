/**
 * A private network for one proof. Machines are network namespaces, and their links can be cut silently. Needs root and Linux. All
 * addresses are in 127.0.0.0/8 and only exist inside. The network is removed with its processes.
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

/** Runs `proof` in a private network, by starting this program again in a new namespace. Throws if that is not possible. */
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

/** A machine in the private network. */
export interface Machine {
  /** Addresses of the machine for clients and for the other machines. */
  readonly hosts: readonly [clients: string, peers: string]
  /** Command prefix that runs a command on the machine. */
  readonly inside: readonly string[]
}

export interface OwnNetwork {
  readonly machines: readonly [Machine, Machine]
  /** Silently drops all packets between a machine and all clients. */
  cutFromClients(machine: Machine): Promise<void>
  /** Silently drops all packets between the machines. */
  cutFromEachOther(): Promise<void>
  /** Ends all cuts. */
  heal(): Promise<void>
}

const addressOf = (number: number) => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`
/** An unused address. Packets to it are lost. */
const nowhere = addressOf(255)

/** One end of a link. */
interface End {
  /** Command prefix that runs a command at this end. Empty for the clients' end. */
  inside: readonly string[]
  device: string
  /** IP address of this end, and of the other end. */
  own: string
  other: string
  /** MAC address of the other end. */
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
  // Narrows the loopback range, because other addresses of 127.0.0.0/8 are on other machines.
  await command(inside, 'ip address del 127.0.0.1/8 dev lo')
}

/** Creates two machines with links to the clients and to each other. Must be called within `inOwnNetwork`. */
export async function openNetwork({ afterwards }: ProofContext): Promise<OwnNetwork> {
  await prepare([])
  await command([], 'ip address add 127.0.0.1/32 dev lo')
  const here = await readlink('/proc/self/ns/net')

  const startMachine = async (number: number): Promise<Machine> => {
    // The process ends with this program, because its input is then closed.
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
  /** Links two places. The address of each end is routed over the link. */
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
