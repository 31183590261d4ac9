/** A frozen process that holds leases of the relay. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { createRelayAccount } from '../../src/chain/keys.ts'
import { createLease, LeaseLostError } from '../../src/chain/lease.ts'
import { createCpuThrottle } from '../../src/chain/poller.ts'
import { createRegistry } from '../../src/chain/registry/registry.ts'
import { closeGap } from '../../src/chain/relay/close-gap.ts'
import { createLane, type RelayParts } from '../../src/chain/relay/relay-parts.ts'
import { readView } from '../../src/chain/view.ts'
import { statement, text } from '../../src/db/sql.ts'
import { noopMeter, noopTracer } from '../../src/telemetry/telemetry-types.ts'
import { relayKeys } from '../support/chain/anvil.ts'
import { chain, useRelayScene, world } from '../support/chain/relay-scene.ts'
import { eventually } from '../support/eventually.ts'

const touch = statement(
  'test_touch',
  { parameters: { value: text } },
  `insert into key_values (key, value) values ('touched', $value)`,
)

const children: ChildProcess[] = []

useRelayScene()
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Starts a process that holds a lease and writes under it for each line. It reports the result of each write. */
const startHolder = async (name: string, mode: 'idle' | 'in-transaction' = 'idle') => {
  const script = join(import.meta.dirname, 'lease-holder.ts')
  const args = ['--disable-warning=ExperimentalWarning', script, world.databaseUrl, name, mode]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface(child.stdout)
  const next = async () => ((await once(lines, 'line')) as [string])[0]
  expect(await next()).toBe('held')
  return {
    child,
    async write() {
      const answer = next()
      child.stdin.write('write\n')
      return answer
    },
    signal: (signal: NodeJS.Signals) => child.kill(signal),
  }
}

const epochOf = async (name: string) => {
  const [row] = await world.sql<{ epoch: string; left: number }>(
    'select epoch::text, extract(epoch from expires_at - clock_timestamp())::float8 as left from leases where name = $1',
    [name],
  )
  return row!
}

describe('leases', () => {
  it('the lease of a frozen process expires by the database clock, and its later writes are rejected', async () => {
    const frozen = await startHolder('lane')
    expect(await frozen.write()).toBe('written')
    const { epoch, left } = await epochOf('lane')
    expect(left).toBeLessThanOrEqual(2)
    frozen.signal('SIGSTOP')
    const successor = createLease(world)
    await eventually(() => successor.acquire('lane'), Boolean)
    expect(Number((await epochOf('lane')).epoch)).toBe(Number(epoch) + 1)

    frozen.signal('SIGCONT')
    expect(await frozen.write()).toBe('LeaseLostError')
    expect(await world.sql(`select value from key_values where key = 'written'`)).toEqual([{ value: '1' }])
    await successor.close()
  })

  it('the lease of a process frozen during a transaction expires', async () => {
    const frozen = await startHolder('lane', 'in-transaction')
    frozen.signal('SIGSTOP')
    const successor = createLease(world)
    await eventually(() => successor.acquire('lane').catch(() => false), Boolean)
    await successor.close()
  })

  it('the lease of a killed process is free immediately', async () => {
    const killed = await startHolder('lane')
    const successor = createLease(world)
    expect(await successor.acquire('lane')).toBe(false)
    killed.signal('SIGKILL')
    await eventually(() => successor.acquire('lane'), Boolean)
    await successor.close()
  })

  it('a process keeps its lease if DATABASE_URL sets another application name', async () => {
    const named = new URL(world.databaseUrl)
    named.searchParams.set('application_name', 'gateway')
    const databaseUrl = named.href
    const holder = createLease({ databaseUrl, log: world.log })
    const other = createLease({ databaseUrl, log: world.log })
    expect([await holder.acquire('lane'), await other.acquire('lane')]).toEqual([true, false])
    expect((await epochOf('lane')).epoch).toBe('1')
    await Promise.all([holder.close(), other.close()])
  })

  it('a process keeps its lease while it runs, and releases the lease when it closes', async () => {
    const holder = createLease(world)
    const other = createLease(world)
    expect([await holder.acquire('lane'), await other.acquire('lane')]).toEqual([true, false])
    await expect(other.write('lane', touch, { value: 'x' })).rejects.toThrow(LeaseLostError)
    expect((await epochOf('lane')).left).toBeLessThanOrEqual(30)
    await holder.close()
    expect(await other.acquire('lane')).toBe(true)
    await other.write('lane', touch, { value: 'x' })
    await other.close()
  })
})

describe('relay', () => {
  it('the relay continues in another process while the lease holder is frozen, and commits nothing twice', async () => {
    const frozen = await startHolder('relay:prepare')
    const [asset] = await world.addCommits(1, 3)
    const relay = world.relay(chain.url)
    frozen.signal('SIGSTOP')
    await eventually(world.statuses, (seen) => seen.FINAL === 3, 45_000)
    frozen.signal('SIGCONT')
    expect(await frozen.write()).toBe('LeaseLostError')
    const commits = await createRegistry({ rpcUrl: chain.url, database: world.database }).readCommits(asset!.nid)
    expect(commits).toHaveLength(3)
    await relay.stop()
  })

  it('the relay fills no nonce gap after another process took over', async () => {
    const [asset] = await world.addCommits(1, 1)
    const account = createRelayAccount(relayKeys[0]!)
    const lane = createLane(account.address, { account, index: 0, lanes: 1 })
    await world.sql(
      `update commit_relays set status = 'FAILED', lane = $1, nonce = 1 where commit_id = (select id from commits where asset_id = $2::uuid)`,
      [account.address, asset!.id],
    )
    const [lease, other] = [createLease(world), createLease(world)]
    expect([await lease.acquire(lane.name), await other.acquire('other')]).toEqual([true, true])
    const registry = createRegistry({ rpcUrl: chain.url, database: world.database })
    const parts: RelayParts = {
      ...world,
      ...{ maxFeePerGas: 500_000_000_000n, commitsPerTransaction: 1, meter: noopMeter, tracer: noopTracer, lease },
      ...{ confirmations: 0, receiptPatience: 0, doubtPatience: 0, gapPatience: 0 },
      rpc: chain.rpc,
      cpu: createCpuThrottle(),
      describe: () => expect.fail('nothing is described'),
      chainId: await registry.readChainId(),
      registry: account.address,
      readHistory: () => expect.fail('no history is read'),
      recorders: new Set([account.address]),
      followLane() {},
    }
    const close = async () => closeGap(parts, lane, await readView(chain.rpc, [account.address]), [])
    const sent = async () => Number(await chain.rpc.call('eth_getTransactionCount', account.address, 'pending'))
    await world.sql(
      `update leases set epoch = epoch + 1, holder = (select holder from leases where name = 'other') where name = $1`,
      [lane.name],
    )
    await expect(close()).rejects.toThrow(LeaseLostError)
    expect(await sent()).toBe(0)
    await other.close()
    await eventually(() => lease.acquire(lane.name), Boolean)
    expect([await close(), await sent()]).toEqual([true, 2])
    await lease.close()
  })
})
