import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DomainError } from '../../src/domain/errors.ts'
import type { ContentStore } from '../../src/domain/ports/files.ts'
import { createKuboContentStore } from '../../src/files/kubo-store.ts'
import { createReplicatedContentStore } from '../../src/files/replicated-store.ts'
import { share } from '../../src/files/share.ts'
import { eventually } from '../support/eventually.ts'
import { createTestLog, type TestLog } from '../support/test-log.ts'
import { type KuboCounterpart, startKuboCounterpart } from './kubo-counterpart.ts'
import { bytesOf, collect, expectError, listOf, stream } from './stored-bytes.ts'

type Three<T> = [T, T, T]

let dir: string
let nodes: Three<KuboCounterpart>
let log: TestLog

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-nodes-'))
  const start = (name: string) => startKuboCounterpart(join(dir, name))
  nodes = [await start('one'), await start('two'), await start('three')]
  log = createTestLog()
})
afterEach(async () => {
  for (const node of nodes) await node.stop()
  // A node may still be writing what it was told to and nobody waits for.
  await rm(dir, { recursive: true, force: true, maxRetries: 20 })
})

/** Nobody waits long for `hanging`. */
const storeOn = (copies: number, hanging?: KuboCounterpart): ContentStore =>
  createReplicatedContentStore({
    nodes: nodes.map((node) => ({
      name: new URL(node.url).host,
      store: createKuboContentStore({ url: node.url, ...(node === hanging && { patience: 2_000 }) }),
    })),
    copies,
    log,
  })
const takeAway = (...away: KuboCounterpart[]) => {
  for (const node of away) node.intercept = (_, __, res) => !!res.destroy()
}
const bringBack = (node: KuboCounterpart) => {
  node.intercept = () => false
}
const hang = (node: KuboCounterpart) => {
  node.intercept = () => true
}
/** How many nodes have it pinned. */
const copiesOf = (cid: string) => nodes.filter(({ pins }) => pins.has(cid)).length
/** As if the pins had been made so many seconds ago. */
const age = (seconds: number) => {
  for (const { pins } of nodes)
    for (const [cid] of pins) pins.set(cid, `annal ${Math.floor(Date.now() / 1000) - seconds}`)
}
const ofNode = (node: KuboCounterpart) => createKuboContentStore({ url: node.url })

describe('what is written to several nodes', () => {
  it('is on all of them, under one identifier', async () => {
    const store = storeOn(2)
    const bytes = bytesOf(3_000_000)
    const file = await store.importFile(stream(bytes))
    expect(file).toMatchObject(await store.identifyFile(stream(bytes)))
    const document = await store.putDocument(bytesOf(100))
    for (const node of nodes) {
      expect([...node.pins.keys()].sort()).toEqual([file.cid, document].sort())
      expect((await collect(ofNode(node).read(file.cid))).equals(bytes)).toBe(true)
    }
  })

  it.each([
    [1, 1, true],
    [1, 2, true],
    [2, 1, true],
    [2, 2, false],
    [3, 1, false],
    [1, 3, false],
  ])('with %i copies wanted and %i of three nodes away: taken is %s', async (copies, away, isTaken) => {
    takeAway(...nodes.slice(0, away))
    const store = storeOn(copies)
    const named = nodes.slice(0, away).map(({ url }) => new URL(url).host)
    expect(await store.isReachable()).toBe(isTaken)
    expect(await store.missingNodes!()).toEqual(named)
    for (const write of [
      () => store.importFile(stream(bytesOf(600_000))).then(({ cid }) => cid),
      () => store.putDocument(bytesOf(100)),
    ]) {
      if (isTaken) expect(copiesOf(await write())).toBe(3 - away)
      else await expectError(write(), 'UNAVAILABLE')
    }
    // Nobody else is blamed for what was refused, and each is told of once.
    expect(log.lines.map(({ fields }) => (fields as { node: string }).node).sort()).toEqual(named.sort())
  })

  it('is told to be refused for want of room where that is why it is refused', async () => {
    for (const node of nodes.slice(0, 2)) {
      node.intercept = (path, _, res) =>
        path === 'add' && !!res.writeHead(500).end('{"Message":"write: no space left on device"}')
    }
    await expectError(storeOn(2).importFile(stream(bytesOf(100))), 'INSUFFICIENT_STORAGE')
    expect((await storeOn(1).importFile(stream(bytesOf(100)))).size).toBe(100)
  })

  it('is taken by the others when a node goes away or hangs in the middle of it', async () => {
    for (const [seed, fail] of [
      ['goes away', (node: KuboCounterpart) => takeAway(node)],
      ['hangs', hang],
    ] as const) {
      const store = storeOn(2, nodes[1])
      const bytes = bytesOf(5_000_000, seed)
      fail(nodes[1])
      const { cid } = await store.importFile(stream(bytes))
      expect(copiesOf(cid)).toBe(2)
      expect((await collect(store.read(cid))).equals(bytes)).toBe(true)
      bringBack(nodes[1])
    }
  })

  it('raises what its source raises', async () => {
    const refusal = new DomainError('PAYLOAD_TOO_LARGE', 'Too large.')
    async function* broken() {
      yield bytesOf(300_000)
      throw refusal
    }
    await expect(storeOn(2).importFile(broken())).rejects.toBe(refusal)
    expect(log.lines).toEqual([])
  })

  it('does not wait again for a node that hung, until that answers', async () => {
    const store = storeOn(2, nodes[0])
    hang(nodes[0])
    await store.putDocument(bytesOf(10, 'first'))
    nodes[0].requests.length = 0
    await store.putDocument(bytesOf(10, 'second'))
    expect(nodes[0].requests.map(({ path }) => path)).not.toContain('add')
    expect(log.lines).toHaveLength(1)
    bringBack(nodes[0])
    // What only that node has is found there, which tells that it is back.
    const { cid } = await ofNode(nodes[0]).importFile(stream(bytesOf(50)))
    expect(await store.size(cid)).toBe(50)
    nodes[0].requests.length = 0
    await store.putDocument(bytesOf(10, 'third'))
    expect(nodes[0].requests.map(({ path }) => path)).toContain('add')
  })
})

describe('what is read from several nodes', () => {
  it('comes from any that has it', async () => {
    const store = storeOn(1)
    const bytes = bytesOf(600_000)
    const { cid } = await ofNode(nodes[2]).importFile(stream(bytes))
    expect((await collect(store.read(cid))).equals(bytes)).toBe(true)
    const range = { offset: 262_000, length: 1_000 }
    expect((await collect(store.read(cid, range))).equals(bytes.subarray(262_000, 263_000))).toBe(true)
    expect([await store.size(cid), await store.isWhole(cid)]).toEqual([600_000, true])
    expect((await collect(store.exportCar(cid))).length).toBeGreaterThan(600_000)
    const below: string[] = []
    for await (const each of store.blocksBelow(cid)) below.push(each)
    expect(below).toHaveLength(3)
  })

  it('goes on with the next node where one breaks off, also in a range', async () => {
    const store = storeOn(2)
    const bytes = bytesOf(2_000_000)
    const { cid } = await store.importFile(stream(bytes))
    for (const range of [undefined, { offset: 100_000, length: 1_500_000 }]) {
      const wanted = range ? bytes.subarray(100_000, 1_600_000) : bytes
      nodes[0].intercept = async (path, _, res) => {
        if (path !== 'cat') return false
        await new Promise<void>((done) => res.writeHead(200).write(wanted.subarray(0, 70_000), () => done()))
        return !!res.destroy()
      }
      expect((await collect(store.read(cid, range))).equals(wanted)).toBe(true)
    }
  })

  it('is missing only when every node says so', async () => {
    const store = storeOn(1)
    const missing = store.identify(bytesOf(7)).cid
    await expectError(store.size(missing), 'NOT_FOUND')
    await expectError(collect(store.read(missing)), 'NOT_FOUND')
    expect(await store.isWhole(missing)).toBe(false)
    takeAway(nodes[2])
    for (const ask of [store.size, store.readBlock, store.isWhole]) await expectError(ask(missing), 'UNAVAILABLE')
    await expectError(collect(store.read(missing)), 'UNAVAILABLE')
  })
})

describe('a collection on several nodes', () => {
  it('removes from each what nobody needs, and gives each what it lacks', async () => {
    const store = storeOn(1)
    takeAway(nodes[1])
    const bytes = bytesOf(600_000, 'needed')
    const { cid: needed } = await store.importFile(stream(bytes))
    const document = await store.putDocument(bytesOf(500, 'a document'))
    bringBack(nodes[1])
    const { cid: garbage } = await ofNode(nodes[1]).importFile(stream(bytesOf(100, 'garbage')))
    age(120)
    expect(await store.collectGarbage(listOf(needed, document), 60)).toBe(1)
    expect([needed, document, garbage].map(copiesOf)).toEqual([3, 3, 0])
    expect((await collect(ofNode(nodes[1]).read(needed))).equals(bytes)).toBe(true)
  })

  it('goes on without a node that is away, and is refused when all are', async () => {
    const store = storeOn(2)
    const { cid } = await store.importFile(stream(bytesOf(100)))
    age(120)
    takeAway(nodes[0])
    expect(await store.collectGarbage(listOf(), 60)).toBe(2)
    expect(copiesOf(cid)).toBe(1)
    takeAway(...nodes)
    await expectError(store.collectGarbage(listOf(), 60), 'UNAVAILABLE')
  })
})

describe('one source for several readers', () => {
  it('gives each of them all of it, at the pace of the slowest, and does not wait for who left', async () => {
    let taken = 0
    async function* source() {
      for (; taken < 5; taken += 1) yield taken
    }
    const { readers, leave } = share(source(), 3)
    const [quick, slow, gone] = readers.map((reader) => reader[Symbol.asyncIterator]()) as Three<AsyncIterator<number>>
    const firsts = [quick.next(), slow.next(), gone.next()]
    expect(await Promise.all(firsts)).toEqual([0, 0, 0].map((value) => ({ done: false, value })))
    leave(2)
    const waiting = quick.next()
    expect(taken).toBe(0)
    expect([await slow.next(), await waiting]).toEqual([1, 1].map((value) => ({ done: false, value })))
    const restOf = async (reader: AsyncIterator<number>) => {
      const rest: number[] = []
      for (let next = await reader.next(); !next.done; next = await reader.next()) rest.push(next.value)
      return rest
    }
    const rest = await Promise.all([quick, slow].map(restOf))
    expect(rest).toEqual([
      [2, 3, 4],
      [2, 3, 4],
    ])
  })

  it('closes its source once everybody left', async () => {
    let isClosed = false
    async function* source() {
      try {
        yield 1
        yield 2
      } finally {
        isClosed = true
      }
    }
    const { readers, leave } = share(source(), 2)
    await Promise.all(readers.map((reader) => reader[Symbol.asyncIterator]().next()))
    for (const reader of [0, 1]) leave(reader)
    await eventually(() => isClosed, Boolean)
  })
})
