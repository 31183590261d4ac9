/** Altered data on the chain, at a node or at a gateway is reported where it occurs, and the history is never accepted. */
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CommitData } from '../../../src/modules/commits/commits.ts'
import { annalVerify } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { relayKeys, startChain, type TestChain } from '../../../test/support/chain/anvil.ts'
import {
  type FakeNode,
  type Lie,
  startFakeNode,
  startToldGateway,
  type ToldGateway,
} from '../../../test/support/fake-node.ts'
import type { Verification } from '../src/verification.ts'
import { createForger, type Forge, type Forger } from './forger.ts'

let chain: TestChain
let forger: Forger & { author: Wallet }
let node: FakeNode
let gateway: ToldGateway
let nid: string
let honest: Verification

afterEach(() => {
  node.lie = undefined
  gateway.swap = everything
})

const everything = (cid: string) => forger.blocks.get(cid) ?? null

async function verify(asset: string, ...args: string[]): Promise<Verification & { code: number }> {
  const sources = ['--rpc', node.url, '--registry', forger.registry, '--gateway', gateway.url]
  const { code, stdout, stderr } = await annalVerify(asset, '--json', ...sources, ...args)
  if (!stdout) throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}

const namesOf = ({ commits, complete, settled, recorder, file }: Verification) => [
  ...Object.entries({ complete, settled, recorder, file }).flatMap(([name, finding]) =>
    finding && finding.result !== 'right' ? [`${name} ${finding.result}`] : [],
  ),
  ...commits.flatMap(({ checks }, index) =>
    checks.flatMap(({ name, result }) => (result === 'right' ? [] : [`${index + 1} ${name} ${result}`])),
  ),
]

let files = 0
const newNid = () => {
  files += 1
  return forger.hold(`file ${files} of ${performance.timeOrigin} ${process.pid}`)
}

const another = Wallet.createRandom()

const forgeries: [string, string[], Forge, object?][] = [
  [
    'a hash that does not match the tree',
    ['2 sha256 wrong', '2 signature wrong'],
    () => ({ assetTreeSha256: '0'.repeat(64) }),
  ],
  ['no signature', ['2 signature wrong'], () => ({ assetTreeSignature: null })],
  ['a malformed signature', ['2 signature wrong'], () => ({ assetTreeSignature: '0x1234' })],
  [
    'a truncated signature',
    ['2 signature wrong'],
    (data) => ({ assetTreeSignature: data.assetTreeSignature!.slice(0, -2) }),
  ],
  ['another committer', ['2 signature wrong'], () => ({ committer: another.address })],
  ['a committer that is not an address', ['2 signature wrong'], () => ({ committer: 'somebody' })],
  ['another author', ['2 author wrong'], () => ({ author: another.address })],
  ['a timestamp before the registration', ['2 order wrong'], () => ({ timestampCreated: 1 })],
  ['a timestamp after its block', ['2 time wrong'], () => ({ timestampCreated: 4_000_000_000 })],
  [
    'a second registration with an older timestamp',
    ['2 order wrong'],
    () => ({ actionName: 'action-initial-registration', timestampCreated: 1 }),
  ],
  [
    'a tree that is not available',
    ['2 tree unknown', '2 sha256 unknown', '2 asset unknown'],
    () => ({ assetTreeCid: 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' }),
  ],
  [
    'a tree with an invalid CID',
    ['2 tree wrong', '2 sha256 wrong', '2 asset wrong'],
    () => ({ assetTreeCid: 'nowhere' }),
  ],
  [
    'a tree of another asset',
    ['2 asset wrong'],
    () => ({}),
    { assetCid: 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' },
  ],
  ['a tree with the SHA-256 of another file', ['2 asset wrong'], () => ({}), { assetSha256: '0'.repeat(64) }],
  ['a string that is not a commit', ['2 layout wrong'], () => 'I was here'],
  [
    'a commit with an unknown action',
    ['2 layout wrong'],
    (data) => JSON.stringify({ ...data, actionName: 'action-steal' }),
  ],
  [
    'a timestamp that is not a number',
    ['2 layout wrong'],
    (data) => JSON.stringify({ ...data, timestampCreated: '1' }),
  ],
]
const forged = new Map<string, string>()

beforeAll(async () => {
  chain = await startChain({ args: ['--no-mining'] })
  forger = await createForger(chain.url, relayKeys[0]!)
  node = await startFakeNode(atEnd, chain.url)
  gateway = await startToldGateway(atEnd, 'http://127.0.0.1:1')
  gateway.swap = everything
  nid = newNid()
  const texts: [string, string][] = [[nid, await forger.write(nid, 1)]]
  for (const [name, , forge, tree] of forgeries) {
    const asset = newNid()
    forged.set(name, asset)
    texts.push([asset, await forger.write(asset, 1)], [asset, await forger.write(asset, 2, forge, tree)])
  }
  await forger.commit(...texts)
  await forger.commit([nid, await forger.write(nid, 2)])
  await forger.commit([nid, await forger.write(nid, 3)], [nid, await forger.write(nid, 4)])
  honest = await verify(nid)
})

afterAll(() => chain?.stop())

it('the verifier accepts an unaltered history', async () => {
  expect([honest.verdict, namesOf(honest)]).toEqual(['holds', []])
  expect(honest.commits).toHaveLength(4)
})

describe('altered chain data', () => {
  it.each(forgeries)('the verifier detects altered chain data: %s', async (name, names) => {
    const found = await verify(forged.get(name)!)
    expect([found.agrees, namesOf(found)]).toEqual([false, names])
  })

  it('the verifier rejects an old tree with a newer signature', async () => {
    const asset = newNid()
    let first: CommitData | undefined
    const remember: Forge = (data) => {
      first = data
      return {}
    }
    const registration = await forger.write(asset, 1, remember)
    const change = await forger.write(asset, 2, () => ({ assetTreeCid: first!.assetTreeCid }))
    await forger.commit([asset, registration], [asset, change])
    expect(namesOf(await verify(asset))).toEqual(['2 sha256 wrong'])
  })

  it('the verifier rejects a registration with a wrong author, and a change without a registration', async () => {
    const [one, other] = [newNid(), newNid()]
    const registration = await forger.write(one, 1, () => ({ author: another.address }))
    await forger.commit([one, registration], [other, await forger.write(other, 2)])
    expect(namesOf(await verify(one))).toEqual(['1 author wrong'])
    expect(namesOf(await verify(other))).toEqual(['1 order wrong'])
  })

  it('the verifier ignores commits of other recorders if the caller names the recorder', async () => {
    const asset = newNid()
    await forger.commit([asset, await forger.write(asset, 1)])
    const stranger = await createForger(chain.url, relayKeys[1]!, {
      registry: forger.registry,
      author: new Wallet(another.privateKey),
    })
    stranger.blocks.set(asset, forger.blocks.get(asset)!)
    // A second, valid history of the asset.
    await stranger.commit([asset, await stranger.write(asset, 1, () => ({ timestampCreated: 1_700_000_100 }))])
    const found = await verify(asset)
    expect(found).toMatchObject({ code: 3, verdict: 'unsettled', foreign: 1, foreignRecorders: [stranger.recorder] })
    expect(namesOf(found)).toEqual(['recorder unknown'])
    expect(await verify(asset, '--recorder', forger.recorder)).toMatchObject({ verdict: 'holds', foreign: 1 })
    const theirs = await verify(asset, '--recorder', stranger.recorder)
    expect(theirs.commits.map(({ commitData }) => commitData?.author)).toEqual([another.address])
  })

  it('the verifier compares changes by value, not by key order or prototype names', async () => {
    const asset = newNid()
    const fields = { license: { name: 'CC0', url: 'https://example.org' }, credits: [1, { a: 1, b: [] }] }
    const sorted = { license: { url: 'https://example.org', name: 'CC0' }, credits: [1, { b: [], a: 1 }] }
    const named = JSON.parse('{"__proto__":{},"constructor":"c"}')
    const different = { license: { name: 'CC0' }, credits: [{ a: 1, b: [] }, 1] }
    const texts = [fields, sorted, { ...sorted, ...named }, different].map((tree, index) =>
      forger.write(asset, index + 1, undefined, tree),
    )
    for (const text of await Promise.all(texts)) await forger.commit([asset, text])
    const { commits } = await verify(asset)
    expect(commits.map(({ changes }) => changes && Object.keys(changes).filter((key) => key !== 'serial'))).toEqual([
      undefined,
      [],
      ['__proto__', 'constructor'],
      ['license', 'credits', '__proto__', 'constructor'],
    ])
    expect(commits[2]!.changes).toMatchObject({ constructor: [null, 'c'] })
  })

  it('the verifier rejects a tree that is nested too deeply', async () => {
    const asset = newNid()
    await forger.commit([asset, await forger.write(asset, 1)])
    const tree = `{"assetCid":"${asset}","assetSha256":"","assetTimestampCreated":1,"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    await forger.commit([asset, await forger.write(asset, 2, () => ({ assetTreeCid: forger.hold(tree) }))])
    expect(namesOf(await verify(asset))).toEqual(['2 sha256 wrong', '2 asset wrong'])
  })

  it('invalid commits of other recorders before the registration do not break the history', async () => {
    const asset = newNid()
    const stranger = await createForger(chain.url, relayKeys[1]!, {
      registry: forger.registry,
      author: new Wallet(another.privateKey),
    })
    const lie: [string, string] = [asset, await stranger.write(asset, 1, () => ({ assetTreeSignature: null }))]
    await stranger.commit([asset, 'rubbish'], lie)
    expect(await verify(asset)).toMatchObject({ code: 1, verdict: 'broken' })
    await forger.commit([asset, await forger.write(asset, 1)])
    const found = await verify(asset)
    expect(found).toMatchObject({ code: 3, verdict: 'unsettled', foreign: 1, foreignRecorders: [forger.recorder] })
    const sources = ['--rpc', node.url, '--registry', forger.registry, '--gateway', gateway.url]
    expect((await annalVerify(asset, ...sources)).stderr).toMatch(/^Several accounts wrote .*--recorder/)
    expect(await verify(asset, '--recorder', forger.recorder)).toMatchObject({ verdict: 'holds' })
    expect(await verify(asset, '--recorder', stranger.recorder)).toMatchObject({ verdict: 'broken' })
  })
})

describe('altered gateway data', () => {
  it.each<[string, (bytes: Uint8Array) => Uint8Array | number | null]>([
    ['a tree with one changed bit', (bytes) => bytes.with(bytes.length - 2, bytes.at(-2)! ^ 1)],
    ['the tree of the previous commit', () => forger.blocks.get(treeOf(1))!],
    [
      'the tree of another asset',
      () => Buffer.from(JSON.stringify({ assetCid: 'x', assetSha256: 'y', assetTimestampCreated: 1 })),
    ],
    ['JSON that is not a tree', () => Buffer.from('{}')],
    ['an HTML page', () => Buffer.from('<!doctype html><title>Welcome</title>')],
    ['an empty body', () => Buffer.alloc(0)],
    ['a body of 5 MB', () => Buffer.alloc(5 * 1024 * 1024)],
    ['nothing', () => null],
    ['status 404', () => 404],
    ['status 500', () => 500],
    ['status 302 without a location', () => 302],
  ])('the verdict is "unsettled" if the gateway returns %s instead of a tree', async (_, swap) => {
    const named = treeOf(2)
    gateway.swap = (cid) => (cid === named ? swap(forger.blocks.get(cid)!) : everything(cid))
    const found = await verify(nid)
    expect(found).toMatchObject({ code: 3, verdict: 'unsettled', agrees: false })
    expect(namesOf(found)).toEqual(['2 tree unknown', '2 sha256 unknown', '2 asset unknown'])
    expect(found.commits[1]!.checks.find(({ name }) => name === 'tree')!.finding).toMatch(/\w/)
  })

  it.each<[string, Uint8Array | number | null]>([
    ['another file', Buffer.from('another')],
    ['an HTML page', Buffer.from('<!doctype html><title>Not found</title>')],
    ['no file', null],
    ['status 500', 500],
    ['status 504', 504],
    ['status 451', 451],
  ])('the verdict is "unsettled" if the gateway returns %s instead of the file', async (_, bytes) => {
    gateway.swap = (cid) => (cid === nid ? bytes : everything(cid))
    const found = await verify(nid)
    expect([found.code, found.verdict, namesOf(found)]).toEqual([3, 'unsettled', ['file unknown']])
  })
})

const treeOf = (commit: number) => honest.commits[commit - 1]!.commitData!.assetTreeCid

type Block = { transactions: Record<string, unknown>[]; hash: string; number: string; [field: string]: unknown }
type Receipts = { logs: { topics: string[]; data: string }[] }[]

const inBlock =
  (method: string, change: (truth: never) => void): Lie =>
  (asked, params, truth) => {
    if (asked !== method || Number(params[0]) !== honest.commits[1]!.blockNumber) return undefined
    const said = structuredClone(truth)
    change(said as never)
    return said
  }

const listOnly =
  (...entries: number[]): Lie =>
  (method, _, truth) => {
    if (method !== 'eth_getProof') return undefined
    const blocks = [...new Set(honest.commits.map(({ blockNumber }) => blockNumber))]
    const { storageProof, ...rest } = truth as { storageProof: { key: string; value: string }[] }
    const isLength = storageProof.length === 1 && Number(storageProof[0]!.value) === blocks.length
    const values = isLength ? [entries.length] : entries.map((index) => blocks[index]!)
    return {
      ...rest,
      storageProof: storageProof.map((each, index) => ({ ...each, value: `0x${values[index]!.toString(16)}` })),
    }
  }

const otherState: Lie = (method, _, truth) => {
  if (method !== 'eth_getProof') return undefined
  const { accountProof, ...rest } = truth as { accountProof: string[] }
  return { ...rest, accountProof: accountProof.map((each) => each.replace(/..$/, '00')) }
}

describe('altered node data', () => {
  it.each<[string, string[], Lie]>([
    [
      'a changed commit text',
      ['2 event wrong'],
      inBlock('eth_getBlockReceipts', (receipts: Receipts) => {
        const log = receipts.flatMap(({ logs }) => logs)[0]!
        log.data = log.data.replace(/7b/, '7c')
      }),
    ],
    [
      'a changed recorder of a commit',
      ['2 event wrong'],
      inBlock('eth_getBlockReceipts', (receipts: Receipts) => {
        receipts.flatMap(({ logs }) => logs)[0]!.topics[1] =
          `0x${another.address.slice(2).toLowerCase().padStart(64, '0')}`
      }),
    ],
    [
      'a receipt without its events',
      ['2 event wrong'],
      inBlock('eth_getBlockReceipts', (receipts: Receipts) => {
        for (const receipt of receipts) receipt.logs = []
      }),
    ],
    [
      'no receipts',
      ['complete unknown'],
      inBlock('eth_getBlockReceipts', (receipts: Receipts) => void receipts.splice(0)),
    ],
    [
      'a different transaction',
      ['2 transaction wrong'],
      inBlock('eth_getBlockByNumber', (block: Block) => {
        for (const each of block.transactions)
          if (typeof each === 'object') each.hash = honest.commits[0]!.transactionHash
      }),
    ],
    [
      'no transactions',
      ['2 transaction unknown'],
      inBlock('eth_getBlockByNumber', (block: Block) => void block.transactions.splice(0)),
    ],
    [
      'a changed block timestamp',
      ['settled wrong'],
      inBlock('eth_getBlockByNumber', (block: Block) => {
        block.timestamp = '0x1'
      }),
    ],
    [
      'a changed block hash',
      ['settled wrong'],
      inBlock('eth_getBlockByNumber', (block: Block) => {
        block.hash = `0x${'1'.repeat(64)}`
      }),
    ],
    [
      'a different chain ID',
      ['1 transaction wrong', '2 transaction wrong', '3 transaction wrong', '4 transaction wrong'],
      (method) => (method === 'eth_chainId' ? '0x5' : undefined),
    ],
    ['a block list without the first block', ['complete wrong'], listOnly(1, 2)],
    ['a block list without a middle block', ['complete wrong'], listOnly(0, 2)],
    ['a block list without the last block', ['complete wrong'], listOnly(0, 1)],
    ['a block list with a single block', ['complete wrong'], listOnly(2)],
    ['state that does not match the block', ['complete unknown'], otherState],
    [
      'no state proof',
      ['complete unknown'],
      (method) => (method === 'eth_getProof' ? { accountProof: [], storageProof: [] } : undefined),
    ],
  ])('the verifier detects altered node data: %s', async (_, names, lie) => {
    node.lie = lie
    const found = await verify(nid)
    expect(found.agrees).toBe(false)
    expect(namesOf(found)).toEqual(expect.arrayContaining(names))
  })

  it('the history is broken if a second node has other blocks, and unsettled for an unknown trusted hash', async () => {
    const second = await startFakeNode(atEnd, chain.url)
    second.lie = (method, params, truth) =>
      method === 'eth_getBlockByNumber' && params[0] !== 'latest'
        ? { ...(truth as object), hash: `0x${'2'.repeat(64)}` }
        : undefined
    expect(namesOf(await verify(nid, '--rpc', second.url))).toEqual(['settled wrong'])
    expect(namesOf(await verify(nid, '--block-hash', `0x${'2'.repeat(64)}`))).toEqual(['settled unknown'])
  })

  it('the verifier tolerates a reorganization of the newest block during the verification', async () => {
    const second = await startFakeNode(atEnd, chain.url)
    const hash = `0x${'2'.repeat(64)}`
    second.lie = (method, _params, truth) => {
      if (method !== 'eth_getBlockByNumber') return undefined
      second.lie = undefined
      return { ...(truth as object), hash }
    }
    expect(namesOf(await verify(nid, '--rpc', second.url))).toEqual([])
    expect(second.lie).toBeUndefined()
  })

  it('the verifier rejects a block list with missing blocks, except a block that was just created', async () => {
    let torn = 1
    node.lie = (method, params, truth) => {
      const slots = params[1] as string[]
      if (method !== 'eth_getProof' || slots.length < 2 || torn === 0) return undefined
      torn -= 1
      const { storageProof, ...account } = truth as { storageProof: object[] }
      return { ...account, storageProof: storageProof.with(-1, { ...storageProof.at(-1), value: '0x0' }) }
    }
    expect(await verify(nid)).toMatchObject({ code: 0, verdict: 'holds', complete: { result: 'right' } })
    expect(torn).toBe(0)
    torn = Number.POSITIVE_INFINITY
    expect(await verify(nid)).toMatchObject({
      ...{ code: 3, verdict: 'unsettled' },
      complete: { finding: expect.stringContaining('lists commits in blocks that it does not have') },
    })
  })

  it.each([
    ['the length of the block list', 1],
    ['the entries of the block list', 2],
  ])('the verifier tolerates missing state for %s while the next block is created', async (_, answer) => {
    let proofs = 0
    node.lie = (method, params, truth) => {
      if (method === 'eth_getProof') proofs += 1
      return proofs === answer ? otherState(method, params, truth) : undefined
    }
    expect(await verify(nid)).toMatchObject({ code: 0, verdict: 'holds', complete: { result: 'right' } })
    expect(proofs).toBe(4)
  })

  it('the verifier rejects another registry and a missing registry', async () => {
    const other = await createForger(chain.url, relayKeys[1]!)
    expect(await verify(nid, '--registry', other.registry)).toMatchObject({ code: 1, verdict: 'unknown' })
    expect(await verify(nid, '--registry', other.recorder)).toMatchObject({
      ...{ code: 3, verdict: 'unsettled' },
      complete: { finding: expect.stringContaining('has no registry') },
    })
  })
})
