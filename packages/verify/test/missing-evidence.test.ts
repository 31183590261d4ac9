/** Missing and unreadable evidence makes a history unsettled, with a reason. The history is never reported as broken, and the verifier never prints a stack trace. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { annalHere, type Said } from '../../../test/support/annal-command.ts'
import { annalVerify } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { relayKeys, startChain } from '../../../test/support/chain/anvil.ts'
import { type FakeNode, startFakeNode, startToldGateway, type ToldGateway } from '../../../test/support/fake-node.ts'
import { connectNode } from '../src/chain-node.ts'
import { CODES } from '../src/read-proof.ts'
import type { Verification } from '../src/verification.ts'
import { writeProof } from '../src/write-proof.ts'
import { createForger, type Forger } from './forger.ts'
import { type Block, blocksOf, carOf } from './proof-blocks.ts'

let forger: Forger
let node: FakeNode
let gateway: ToldGateway
let dir: string
let nid: string
let firstBlock: number
let secondBlock: number

const everything = (cid: string) => forger.blocks.get(cid) ?? null
const sources = () => ['--rpc', node.url, '--registry', forger.registry, '--gateway', gateway.url]
const run = (...args: string[]) => annalVerify(nid, '--json', ...sources(), ...args)

const read = ({ code, stdout, stderr }: Said): Verification & { code: number } => {
  if (!stdout) throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}
const verify = async (...args: string[]) => read(await run(...args))

const reasonsOf = ({ complete, settled, file, commits, missing }: Verification) => [
  ...missing,
  ...[complete, settled, file, ...commits.flatMap(({ checks }) => checks)].flatMap((each) => each?.finding ?? []),
]

function expectUnsettled(found: Verification & { code: number }) {
  expect(found).toMatchObject({ code: 3, verdict: 'unsettled', agrees: false })
  expect(reasonsOf(found)[0]).toMatch(/^[A-Z].*\.$/)
  expect(JSON.stringify(found)).not.toMatch(/"result":"wrong"|TypeError|undefined|is not a function/)
}

function holdTime() {
  const deadlines: AbortController[] = []
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const deadline = new AbortController()
    deadlines.push(deadline)
    return deadline.signal
  })
  return () => {
    for (const deadline of deadlines) deadline.abort(new DOMException('It is late', 'TimeoutError'))
  }
}

const newest = async () => (await forger.rpc.call('eth_getBlockByNumber', 'latest', false)) as { hash: string }

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-missing-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  const chain = await startChain({ args: ['--no-mining'] })
  atEnd(chain.stop)
  forger = await createForger(chain.url, relayKeys[0]!)
  node = await startFakeNode(atEnd, chain.url)
  gateway = await startToldGateway(atEnd, 'http://127.0.0.1:1')
  gateway.swap = everything
  nid = forger.hold('a file of which some evidence is missing')
  await forger.commit([nid, await forger.write(nid, 1)])
  await forger.commit([nid, await forger.write(nid, 2)])
  await forger.commit([nid, await forger.write(nid, 3)], [nid, await forger.write(nid, 4)])
  const { code, commits } = await verify()
  expect([code, commits.length]).toEqual([0, 4])
  ;[firstBlock, secondBlock] = commits.map(({ blockNumber }) => blockNumber) as [number, number]
})

afterEach(() => {
  vi.restoreAllMocks()
  node.lie = undefined
  node.answer = undefined
  gateway.swap = everything
})

const garbage: [string, unknown][] = [
  ['null', null],
  ['a number', 42],
  ['a boolean', true],
  ['an empty string', ''],
  ['0x', '0x'],
  ['a string', 'garbage'],
  ['an HTML page', '<!doctype html><title>Welcome</title>'],
  ['an empty object', {}],
  ['an empty list', []],
  ['a list of null', [null]],
  ['a list of strings', ['0xzz']],
  ['nested objects', { number: {}, hash: [], logs: 'x', accountProof: 'x', storageProof: {} }],
]
const methods = ['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockReceipts', 'eth_getProof']

describe('nodes', () => {
  it.each(methods.flatMap((method) => garbage.map(([name, value]) => [method, name, value] as const)))(
    'a node that answers %s with %s makes the verdict "unsettled"',
    async (method, _, value) => {
      node.lie = (asked) => (asked === method ? value : undefined)
      expectUnsettled(await verify())
    },
  )

  it.each(garbage)(
    'a node without proofs that answers eth_call with %s makes the verdict "unsettled"',
    async (_, value) => {
      node.lie = (asked) => (asked === 'eth_call' ? value : asked === 'eth_getProof' ? null : undefined)
      expectUnsettled(await verify())
    },
  )

  it.each(['eth_getBlockByNumber', 'eth_getBlockReceipts'])(
    'a node without a response to %s for the first block leaves the other commits valid',
    async (method) => {
      node.lie = (asked, [number]) => (asked === method && Number(number) === firstBlock ? null : undefined)
      const found = await verify('--recorder', forger.recorder)
      expectUnsettled(found)
      expect(found.commits).toHaveLength(3)
      expect(found.missing).toEqual([expect.stringMatching(new RegExp(`does not have .*block ${firstBlock}\\.`))])
    },
  )

  it('a node without a block in the middle leaves the changes next to the block unknown', async () => {
    node.lie = (asked, [number]) =>
      asked === 'eth_getBlockReceipts' && Number(number) === secondBlock ? null : undefined
    const found = await verify()
    expectUnsettled(found)
    expect(found.commits.map(({ changes }) => changes && Object.keys(changes))).toEqual([
      undefined,
      undefined,
      ['serial'],
    ])
  })

  it.each([
    ['status 404', { status: 404, body: 'Not found' }],
    ['status 500', { status: 500, body: '{"error":"no"}' }],
    ['an HTML page', { body: '<!doctype html><title>Welcome</title>' }],
    ['an empty body', { body: '' }],
    ['a JSON string', { body: '"hello"' }],
    ['null', { body: 'null' }],
    [
      'one error for the whole batch',
      { body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"too many requests"}}' },
    ],
    ['an empty list', { body: '[]' }],
    ['a list of null', { body: '[null,null]' }],
    [
      'errors',
      {
        body: JSON.stringify([0, 1].map((id) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'pruned' } }))),
      },
    ],
    ['errors without a message', { body: '[{"id":0,"error":"no"},{"id":1,"error":{}}]' }],
  ])('a node that answers everything with %s makes the verdict "unsettled"', async (_, response) => {
    node.answer = () => response
    const found = await verify()
    expectUnsettled(found)
    expect(found).toMatchObject({ asOf: null, chainId: null, commits: [] })
  })

  it.each(['eth_getBlockReceipts', 'eth_getProof'])(
    'a node that fails with status 500 for %s does not hide other answers',
    async (method) => {
      node.answer = (asked) => (asked.includes(method) ? { status: 500, body: '' } : undefined)
      const found = await verify()
      expectUnsettled(found)
      expect(found.asOf).not.toBeNull()
    },
  )

  it('an unreachable node makes the verdict "unsettled"', async () => {
    const found = read(
      await annalVerify(
        nid,
        '--json',
        '--rpc',
        'http://127.0.0.1:1',
        '--registry',
        forger.registry,
        '--gateway',
        gateway.url,
      ),
    )
    expectUnsettled(found)
  })

  it('a node that does not respond in time makes the verdict "unsettled", and gets only one request', async () => {
    let requests = 0
    const endTime = holdTime()
    node.answer = () => {
      requests += 1
      endTime()
      return null
    }
    const found = await verify()
    expectUnsettled(found)
    expect(found.missing[0]).toMatch(/no response in time/)
    expect(requests).toBe(1)
  })

  it('a node that limits the response size is queried block by block', async () => {
    node.answer = (_, calls) => {
      const many = calls.filter(({ method }) => method === 'eth_getBlockReceipts')
      if (many.length < 2) return undefined
      return {
        body: JSON.stringify(calls.map(({ id }) => ({ id, error: { code: -32003, message: 'response too large' } }))),
      }
    }
    expect(await verify()).toMatchObject({ code: 0, verdict: 'holds' })
  })

  it.each([
    ['null', null],
    ['a block without a hash', { number: '0x1' }],
    ['a string', '<!doctype html>'],
  ])('a second node that returns %s makes the verdict "unsettled"', async (_, value) => {
    const second = await startFakeNode(
      atEnd,
      forger.rpc.host.startsWith('http') ? forger.rpc.host : `http://${forger.rpc.host}`,
    )
    second.lie = (asked) => (asked === 'eth_getBlockByNumber' ? value : undefined)
    const found = await verify('--rpc', second.url)
    expectUnsettled(found)
    expect(found.settled.result).toBe('unknown')
  })
})

describe('trusted hashes', () => {
  it('the trusted hash of a later block does not contradict a proof', async () => {
    const proof = await prove()
    const held = await verifyProof(proof, '--block-hash', (await newest()).hash)
    expect(held).toMatchObject({ code: 0, verdict: 'holds' })
    await forger.rpc.call('evm_mine')
    const { hash } = await newest()
    const found = await verifyProof(proof, '--block-hash', hash)
    expectUnsettled(found)
    expect(found.settled.finding).toContain(`No block of the evidence has the hash ${hash}.`)
    expect(await verifyProof(proof, '--block-hash', hash, '--rpc', node.url)).toMatchObject({
      code: 0,
      verdict: 'holds',
    })
    expect(await verify('--block-hash', hash)).toMatchObject({ code: 0, verdict: 'holds' })
  })

  it('the trusted hash of an unknown block makes the verdict "unsettled"', async () => {
    expectUnsettled(await verify('--block-hash', `0x${'7'.repeat(64)}`))
  })
})

describe('gateways', () => {
  it('an unreachable gateway makes the verdict "unsettled"', async () => {
    expectUnsettled(await verify('--gateway', 'http://127.0.0.1:1'))
  })

  it('a gateway that does not respond in time makes the verdict "unsettled"', async () => {
    const endTime = holdTime()
    gateway.swap = () => {
      endTime()
      return 'hangs'
    }
    const found = await verify()
    expectUnsettled(found)
    expect(reasonsOf(found)).toContainEqual(
      expect.stringMatching(/^The gateway .* does not answer: no response in time\.$/),
    )
  })

  it('a gateway that returns HTML for every request leaves the trees out of a proof', async () => {
    gateway.swap = () => Buffer.from('<!doctype html><title>Welcome</title>')
    const path = join(dir, 'without-trees.car')
    const said = await annalHere({}, ['proof', nid, '--out', path, ...sources()])
    expect([said.code, said.stderr]).toEqual([0, expect.stringContaining('Verify it anywhere')])
    const found = read(await annalVerify(path, '--json', '--registry', forger.registry, '--rpc', node.url))
    expectUnsettled(found)
  })
})

async function prove(): Promise<Block[]> {
  const parts: Uint8Array[] = []
  const { registry, blocks } = forger
  for await (const part of writeProof({
    nid,
    registry,
    node: connectNode(node.url),
    readTree: async (cid) => blocks.get(cid),
  }))
    parts.push(part)
  return blocksOf(Buffer.concat(parts))
}

async function verifyFile(bytes: Uint8Array, ...args: string[]): Promise<Said[]> {
  const path = join(dir, 'proof.car')
  await writeFile(path, bytes)
  const all = [path, '--json', '--registry', forger.registry, ...args]
  return [await annalVerify(...all), await annalHere({}, ['verify', ...all])]
}

async function verifyProof(blocks: readonly Block[], ...args: string[]) {
  const [alone, command] = await verifyFile(await carOf(blocks), ...args)
  expect(command!.code).toBe(alone!.code)
  return read(alone!)
}

describe('proofs', () => {
  it('a proof without any one of its blocks has the verdict "unsettled"', async () => {
    const blocks = await prove()
    const { hash } = await newest()
    const kinds = new Set(blocks.map(({ cid }) => cid.code))
    expect(kinds).toEqual(new Set(Object.values(CODES)))
    for (const [index, { cid }] of blocks.entries()) {
      if (index === 0) continue
      const found = await verifyProof(
        blocks.filter((block) => block.cid.toString() !== cid.toString()),
        ...['--block-hash', hash, '--recorder', forger.recorder],
      )
      expectUnsettled(found)
    }
  })

  it('a proof that cannot be read is reported as a usage error', async () => {
    const whole = await carOf(await prove())
    const unreadable: Uint8Array[] = [
      Buffer.alloc(0),
      Buffer.from('{"format":"annal-proof"}'),
      Buffer.from('<!doctype html><title>Not found</title>'),
      Buffer.alloc(100_000, 0xff),
      ...[1, 10, 60, 100, 1_000, whole.length - 1].map((length) => whole.subarray(0, length)),
    ]
    for (const bytes of unreadable) {
      for (const { code, stdout, stderr } of await verifyFile(bytes)) {
        expect([code, stdout]).toEqual([2, ''])
        expect(stderr).toMatch(/(cannot be read|first block of the proof is missing).*\.\n$/)
      }
    }
    for (const said of [
      await annalVerify('no-such.car'),
      await annalVerify(`${dir}/../${dir.split('/').at(-1)}/x.car`),
      await annalHere({}, ['verify', 'no-such.car']),
    ]) {
      expect(said).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/cannot be read|Cannot read/) })
    }
  })
})
