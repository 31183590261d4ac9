/** Whom F38 freezes, and in the middle of what. Each point is made visible from outside; the product has no hook for it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { statement, text } from '../src/domain/sql.ts'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { updateCall } from './harness/callers.ts'
import { persist, soonGivingUp } from './harness/client.ts'
import type { FrozenScene } from './harness/frozen-scene.ts'
import type { Gate } from './harness/gates.ts'
import { freezeProcess, type Gateway } from './harness/gateway.ts'

/** Where a gateway stands still because the proof's own trigger holds its statement. */
const heldAt = {
  'in update': 'after insert on commits for each row',
  'effect done, answer not kept': 'before update of answer on idempotency_keys for each row',
  'tree signed, not stored': `before update on commit_relays for each row when (new.tree_signature is distinct from old.tree_signature)`,
  'transaction signed, not stored': 'before insert on chain_transactions for each row',
  'broadcast, not noted': `before update on commit_relays for each row when (old.status = 'PENDING' and new.status = 'BROADCAST')`,
  'included, not noted': `before update on commit_relays for each row when (old.status <> 'INCLUDED' and new.status = 'INCLUDED')`,
  'final, not noted': `before update on commit_relays for each row when (old.status <> 'FINAL' and new.status = 'FINAL')`,
  'deposit found, not credited': `before update on deposits for each row when (old.status = 'PENDING' and new.status = 'CREDITED')`,
  'webhook answered, not noted': 'before insert on webhook_attempts for each row',
}
const inDeletion = 'in the middle of a deletion'
const inRotation = 'in the middle of a key rotation'

export const gates: Gate[] = [
  ...Object.entries(heldAt).map(([name, trigger]) => ({ name, trigger })),
  {
    name: inDeletion,
    trigger: 'before update on users for each row when (old.deleted_at is null and new.deleted_at is not null)',
  },
  {
    name: inRotation,
    trigger: 'before update on user_keys for each row when (old.vault_key_id <> new.vault_key_id)',
  },
]

/** Who is frozen, what is to be done at once, and when it is let go again. */
export interface Freeze {
  /** The gateway; undefined when it is another process. */
  gateway: Gateway | undefined
  /** What must be right while it is frozen; raises when it is not. */
  meanwhile?(): Promise<void>
  thaw(): Promise<void>
}

type Point = (scene: FrozenScene) => Promise<Freeze>

const patience = 60_000
/** Nobody waits longer for an answer. Milliseconds. */
const LONGEST = 10_000

const findHolder = statement(
  'proof_holder',
  { parameters: { lease: text }, columns: { gateway: text } },
  `select a.usename::text as gateway from leases l join pg_stat_activity a on a.application_name = 'annal relay ' || l.holder::text
   where l.name like $lease and l.expires_at > clock_timestamp() limit 1`,
)

const named = ({ gateways }: FrozenScene, name: string | undefined) => gateways.find((gateway) => gateway.name === name)

async function freeze(scene: FrozenScene, gateway: Gateway, thaw = async () => {}): Promise<Freeze> {
  await gateway.freeze()
  scene.frozen = { gateway, since: performance.now() }
  return {
    gateway,
    async thaw() {
      await Promise.all([gateway.thaw(), thaw()])
      scene.frozen = undefined
    },
  }
}

/** Whoever holds a lease, at any moment. */
const holderOf =
  (lease: string): Point =>
  async (scene) => {
    const look = async () => named(scene, (await scene.parts.database.query(findHolder, { lease }))[0]?.gateway)
    const gateway = await until(`somebody holds ${lease}`, look, patience, 50)
    return freeze(scene, gateway)
  }

/** Whoever comes to a gate. What it had under way there is undone, or finished by the server alone. */
const heldBy =
  (gate: string): Point =>
  async (scene) => {
    const { gates } = scene
    await gates.close(gate)
    try {
      const look = async () => named(scene, (await gates.findWaiting(gate))?.gateway)
      const gateway = await until(`${scene.name}: a gateway comes to "${gate}"`, look, patience)
      return await freeze(scene, gateway)
    } finally {
      await gates.open(gate)
    }
  }

/** Which of the gateways has a connection from this port. */
async function findByPort({ gateways }: FrozenScene, port: number): Promise<Gateway | undefined> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  const inode = lines.find((fields) => fields[1]?.endsWith(`:${hex}`) && fields[9] !== '0')?.[9]
  for (const gateway of gateways) {
    const folder = `/proc/${gateway.pid()}/fd`
    const links = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
    if (links.includes(`socket:[${inode}]`)) return gateway
  }
  return undefined
}

/** Whoever calls a webhook, before the receiver answers. */
const calling: Point = (scene) =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${scene.name}: no webhook was called.`)), patience)
    scene.onCall = async (_call, port) => {
      clearTimeout(late)
      const gateway = await findByPort(scene, port)
      if (gateway) resolve(await freeze(scene, gateway))
      else reject(new Error(`${scene.name}: nobody called from port ${port}.`))
    }
  })

/** Whoever sends a transaction: it reaches the node when the gateway is let go again, or its answer comes then. */
const sending =
  (moment: 'before' | 'after'): Point =>
  async (scene) => {
    let release = () => {}
    let victim: Gateway | undefined
    for (const [index, proxy] of scene.proxies.entries()) {
      proxy.ambush = (passed) => {
        if (victim || passed !== moment) return false
        victim = scene.gateways[index]
        return new Promise<boolean>((resolve) => {
          release = () => resolve(false)
        })
      }
    }
    try {
      const gateway = await until(`${scene.name}: a transaction is sent`, () => victim, patience)
      return await freeze(scene, gateway, async () => release())
    } finally {
      for (const proxy of scene.proxies) proxy.ambush = undefined
    }
  }

/** Somebody who deletes an account, between two statements: rows that others want are locked. */
const deleting: Point = async (scene) => {
  const leaver = await scene.openLeaver()
  const { gates, acknowledged } = scene
  await gates.close(inDeletion)
  let deletion: Promise<unknown>
  let frozen: Freeze
  try {
    const call = { method: 'DELETE' as const, path: '/api/v3/auth/users/me/', token: leaver.token }
    deletion = trySend(scene.awake().url, call, soonGivingUp)
    const look = async () => named(scene, (await gates.findWaiting(inDeletion))?.gateway)
    const gateway = await until(`${scene.name}: a gateway comes to "${inDeletion}"`, look, patience)
    frozen = await freeze(scene, gateway)
  } finally {
    await gates.open(inDeletion)
  }
  return {
    ...frozen,
    async meanwhile() {
      const message = `${leaver.username} stays`
      const began = performance.now()
      const choose = () => {
        if (performance.now() - began > 30_000) throw new Error(`The rows of ${leaver.username} are still locked.`)
        return scene.awake().url
      }
      const tries: number[] = []
      let sentAt = 0
      const watch = {
        onSent() {
          sentAt = performance.now()
        },
        onFirstByte: () => void tries.push(performance.now() - sentAt),
      }
      const { answer } = await persist(choose, updateCall(leaver, message), () => watch)
      if (answer.status !== 200) throw new Error(`An update was answered with ${JSON.stringify(answer)}.`)
      acknowledged.commits.push(message)
      acknowledged.byAccount.get(leaver.username)!.push(message)
      const slowest = Math.max(...tries)
      if (slowest > LONGEST) throw new Error(`Somebody waited ${slowest.toFixed(0)} ms for locked rows.`)
      await deletion
    },
  }
}

const root = join(import.meta.dirname, '..')

function annal(scene: FrozenScene, args: string[], url: string): ChildProcess {
  const output = openSync(join(scene.context.dir, 'annal.log'), 'a')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'src/cli.ts'), ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: scene.context.dir, ...scene.parts.env, DATABASE_URL: url },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  scene.context.afterwards(async () => child.kill('SIGKILL'))
  return child
}

async function ended(what: string, child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (child.exitCode !== 0) throw new Error(`${what} ended with ${child.exitCode ?? child.signalCode}.`)
}

/** An operator's command. The rotation is finished by another one, and begun once more. */
const rotating: Point = async (scene) => {
  const { gates, parts } = scene
  const role = `rotator-${process.hrtime.bigint()}`
  const url = await parts.urlAs(role)
  await gates.close(inRotation)
  const rotation = annal(scene, ['keys', 'rotate'], url)
  try {
    const look = async () => (await gates.findWaiting(inRotation))?.gateway === role
    await until(`${scene.name}: a rotation comes to a key`, look, patience)
    await freezeProcess(rotation)
  } finally {
    await gates.open(inRotation)
  }
  return {
    gateway: undefined,
    async meanwhile() {
      for (let times = 0; times < 2; times += 1)
        await ended('A rotation beside a frozen one', annal(scene, ['keys', 'rotate'], parts.databaseUrl))
    },
    async thaw() {
      rotation.kill('SIGCONT')
      await ended('The rotation that was frozen', rotation)
      await ended('The rotation after it', annal(scene, ['keys', 'rotate'], parts.databaseUrl))
    },
  }
}

export const points: Record<string, Point> = {
  'relay lane': holderOf('relay:0x%'),
  'preparing of trees': holderOf('relay:prepare'),
  'deposit watcher': holderOf('deposits'),
  'webhook called, not answered': calling,
  'transaction stored, broadcast late': sending('before'),
  'transaction broadcast, reply late': sending('after'),
  ...Object.fromEntries(Object.keys(heldAt).map((name) => [name, heldBy(name)])),
  [inDeletion]: deleting,
  [inRotation]: rotating,
}
