import { describe, expect, it } from 'vitest'
import type { ContentStore } from '../../src/files/file-types.ts'
import type { Custody } from '../../src/keys/envelope-encryption.ts'
import { insufficientStorage, unavailable } from '../../src/shared/errors.ts'
import { all, chain, useRelayScene, world } from '../support/chain/relay-scene.ts'
import { eventually } from '../support/eventually.ts'

useRelayScene()

const waiting = () =>
  world.sql<{ attempts: number; last_error: string; pause: number }>(
    `select attempts, last_error, extract(epoch from next_attempt_at - updated_at)::float8 as pause
     from commit_relays where status = 'PENDING' and last_error is not null`,
  )

const custodyWithout = (lost: ReadonlySet<string>): Custody => ({
  ...world.custody,
  sign: (author, ...rest) =>
    lost.has(author) ? Promise.reject(new Error('its key share is gone')) : world.custody.sign(author, ...rest),
})

describe('commits that cannot be prepared', () => {
  it('commits that cannot be prepared never delay commits of other users, and are logged once each', async () => {
    const assets = await world.addCommits(67, 1)
    const others = await world.addCommits(67, 1)
    const lost = new Set([assets, others].map(([asset]) => asset!.owner.id))
    const relay = world.relay(chain.url, { custody: custodyWithout(lost) })
    await eventually(waiting, (rows) => rows.length === 134 && rows.some(({ attempts }) => attempts > 1))
    const healthy = await world.addAsset(await world.addUser())
    for (let round = 0; round < 3; round += 1) await world.addCommit(healthy)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 3))
    expect(await world.statuses()).toEqual({ PENDING: 134, FINAL: 3 })
    const reported = world.log.lines.filter(({ message }) => message.startsWith('Commit could not be prepared'))
    expect(new Set(reported.map(({ fields }) => (fields as { commit: string }).commit)).size).toBe(reported.length)
    expect(reported).toHaveLength(134)
    for (const { fields } of reported)
      expect(fields).toMatchObject({ commit: expect.stringMatching(/^commit_\w{26}$/) })
  })

  it('commits that cannot be prepared are retried with backoff, and are sent after the cause is fixed', async () => {
    const [asset] = await world.addCommits(1, 3)
    const lost = new Set([asset!.owner.id])
    const relay = world.relay(chain.url, { custody: custodyWithout(lost) })
    const [first] = await eventually(waiting, ([row]) => row !== undefined)
    const [later] = await eventually(waiting, ([row]) => row!.attempts > first!.attempts)
    expect([first!.last_error, later!.last_error]).toEqual(Array(2).fill('its key share is gone'))
    expect(later!.pause / first!.pause).toBeCloseTo(2 ** (later!.attempts - first!.attempts))
    lost.clear()
    await world.sql(`update commit_relays set next_attempt_at = now() - interval '1 ms'`)
    relay.wake()
    await eventually(world.statuses, all('FINAL', 3))
    expect(await waiting()).toEqual([])
  })
})

describe('unavailable file store', () => {
  const hanging = (store: ContentStore): ContentStore => ({
    ...store,
    putDocument: (_, cancel) =>
      new Promise((__, reject) => cancel?.addEventListener('abort', () => reject(unavailable('The file store')))),
  })

  it('an unavailable file store delays neither prepared commits nor the shutdown', async () => {
    await world.addCommits(2, 1)
    // The commits of the first relay wait for blocks.
    await chain.rpc.call('evm_setAutomine', false)
    const first = world.relay(chain.url)
    const mining = setInterval(() => void chain.rpc.call('evm_mine').catch(() => {}), 50)
    await eventually(async () => first.status().registry, Boolean)
    clearInterval(mining)
    await eventually(world.statuses, (seen) => (seen.BROADCAST ?? 0) + (seen.INCLUDED ?? 0) + (seen.FINAL ?? 0) === 2)
    await first.stop()

    await world.addCommit(await world.addAsset(await world.addUser()))
    const relay = world.relay(chain.url, { contentStore: hanging(world.contentStore) })
    await eventually(() => relay.status().state === 'working')
    await chain.rpc.call('evm_mine')
    await eventually(world.statuses, all('FINAL', 2))
    expect(await world.statuses()).toEqual({ FINAL: 2, PENDING: 1 })
    await relay.stop()
    expect(relay.status().state).toBe('stopped')
  })

  it.each([
    [
      'unavailable',
      unavailable('The file store', new Error('refused')),
      /^The file store is not available .*\(refused\)$/,
    ],
    ['full', insufficientStorage(new Error('ENOSPC')), /^The file store is full\. \(ENOSPC\)$/],
  ])(
    'a file store that is %s is logged once, and commits continue soon after it recovers',
    async (_, refusal, reported) => {
      await world.addCommits(5, 1)
      let isAway = true
      const contentStore: ContentStore = {
        ...world.contentStore,
        putDocument: (bytes) => (isAway ? Promise.reject(refusal) : world.contentStore.putDocument(bytes)),
      }
      const relay = world.relay(chain.url, { contentStore })
      await eventually(waiting, (rows) => rows.length === 5 && rows.every(({ attempts }) => attempts > 1))
      await world.sql('update commit_relays set attempts = 12')
      const tryNow = async () => {
        await world.sql(`update commit_relays set next_attempt_at = now() - interval '1 ms'`)
        relay.wake()
      }
      await eventually(async () => {
        await tryNow()
        return (await waiting()).every(({ attempts }) => attempts > 12)
      })
      for (const { pause } of await waiting()) expect(pause).toBeLessThanOrEqual(30)
      const message = 'Preparation of commits failed; retrying'
      expect(world.log.lines).toMatchObject([
        { level: 'warn', message, fields: { reason: expect.stringMatching(reported) } },
      ])
      isAway = false
      await eventually(async () => {
        await tryNow()
        return (await world.statuses()).FINAL === 5
      })
    },
  )
})
