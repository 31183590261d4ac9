/** Forged proofs: the verifier never accepts them. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeRlp, getBytes, keccak256, type RlpStructuredData } from 'ethers'
import { varint } from 'multiformats'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { beforeAll, expect, it } from 'vitest'
import { annalVerify } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { relayKeys, startChain } from '../../../test/support/chain/anvil.ts'
import { listen } from '../../../test/support/listen.ts'
import { connectNode } from '../src/chain-node.ts'
import { chainBlock } from '../src/cids.ts'
import { type BlockReply, encodeHeader } from '../src/ethereum.ts'
import { CODES } from '../src/read-proof.ts'
import { connectGateway, hashFile } from '../src/sources.ts'
import type { Verification } from '../src/verification.ts'
import { writeProof } from '../src/write-proof.ts'
import { createForger, type Forger } from './forger.ts'
import { type Block, blocksOf, carOf, manifestOf, withManifest } from './proof-blocks.ts'

type World = Forger & { url: string }

let dir: string
let world: World
let home: World

async function startWorld(): Promise<World> {
  const { url, stop } = await startChain({ args: ['--no-mining'] })
  atEnd(stop)
  return { ...(await createForger(url, relayKeys[0]!)), url }
}

async function prove({ url, registry, blocks }: World, nid: string): Promise<Block[]> {
  const parts: Uint8Array[] = []
  const sources = { nid, registry, node: connectNode(url), readTree: async (cid: string) => blocks.get(cid) }
  for await (const part of writeProof(sources)) parts.push(part)
  return blocksOf(Buffer.concat(parts))
}

async function read(proof: readonly Block[], ...args: string[]) {
  const path = join(dir, 'proof.car')
  await writeFile(path, await carOf(proof))
  return annalVerify(path, ...args)
}

async function verify(proof: readonly Block[], ...args: string[]): Promise<Verification & { code: number }> {
  const { code, stdout, stderr } = await read(proof, '--json', ...args)
  if (!stdout) throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}

async function everything(): Promise<string[]> {
  const { hash } = (await world.rpc.call('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  return ['--block-hash', hash, ...known()]
}
const known = () => ['--rpc', world.url, '--registry', world.registry, '--recorder', world.recorder]

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-forged-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  ;[world, home] = [await startWorld(), await startWorld()]
})

it('does not accept a forged block next to the real block with the same number', async () => {
  const nid = home.hold('a file that nobody registered')
  const other = world.hold('a file of somebody')
  // In the second block of either chain.
  await world.commit([other, await world.write(other, 1)])
  await home.commit([nid, await home.write(nid, 1)], [nid, await home.write(nid, 2)])
  const [forged, honest] = [await prove(home, nid), await prove(world, other)]
  expect(await verify(honest, ...(await everything()))).toMatchObject({ code: 0, verdict: 'holds' })
  const { header } = manifestOf(honest).blocks[0]!
  const both = [...forged, ...honest.slice(1)]
  for (const place of [0, 1]) {
    const proof = withManifest(both, ({ blocks }) => blocks.splice(place, 0, { header, transactions: [] }))
    const found = await verify(proof, ...known())
    expect(found).toMatchObject({ code: 1, settled: { result: 'wrong' }, anchors: [{ number: 2 }, { number: 2 }] })
    expect(await verify(proof, '--block-hash', (await everything())[1]!)).toMatchObject({ agrees: false })
  }
})

it('does not trust a registry that the caller did not name', async () => {
  const made = await createForger(world.url, relayKeys[1]!)
  const nid = made.hold('a file of a made-up registry')
  await made.commit([nid, await made.write(nid, 1)])
  const proof = await prove({ ...made, url: world.url }, nid)
  const reader = ['--rpc', world.url, '--recorder', made.recorder]
  expect(await verify(proof, ...reader)).toMatchObject({ code: 3, recorder: { result: 'unknown' } })
  expect(await verify(proof, ...reader, '--registry', made.registry)).toMatchObject({ code: 0, verdict: 'holds' })
  await expect(verify(proof, ...known())).rejects.toThrow(/contains the registry/)
})

it('counts a repeated block of a proof once', async () => {
  const nid = world.hold('a file that is registered once')
  await world.commit([nid, await world.write(nid, 1)])
  const proof = withManifest(await prove(world, nid), ({ blocks }) => blocks.push(...blocks))
  expect(await verify(proof, ...(await everything()))).toMatchObject({ code: 0, commits: [{ life: 1 }] })
})

it.each([
  ['whose SHA-256 in the trees belongs to another file', 'the file', 'another file'],
  ['that belongs to no file', undefined, 'a file'],
])('detects a CID %s, with and without the file', async (_, named, reported) => {
  const nid = named ? world.hold(named) : 'bafkr4ihkr4ld3m4gqkjf4reryxsy2s5tkbxprqkow6fin2iiyvreuzzab4'
  const assetSha256 = createHash('sha256').update(reported).digest('hex')
  await world.commit([nid, await world.write(nid, 1, undefined, { assetSha256 })])
  const proof = await prove(world, nid)
  const path = join(dir, 'reported.jpg')
  await writeFile(path, reported)
  for (const file of [[], ['--file', path]]) {
    const found = await verify(proof, ...(await everything()), ...file)
    expect(found).toMatchObject({ code: 1, file: { result: 'wrong' } })
  }
})

it('escapes control characters in the output of the verifier', async () => {
  const nid = world.hold('a file with hostile metadata')
  const fields = {
    '\u001b[2J\u001b[H\nsettled   right': 1,
    'caption  right': 1,
    '\u009b2J\u202e': 1,
    assetCid: 'x\r\u001b[1A',
  }
  await world.commit([nid, await world.write(nid, 1)], [nid, await world.write(nid, 2, undefined, fields)])
  const proof = await prove(world, nid)
  const { stdout } = await read(proof)
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{C}]/u)
  expect(stdout.match(/^settled/gm)).toHaveLength(1)
  expect(stdout).toContain('"caption  right"')
  expect(stdout).toContain(String.raw`The tree belongs to the asset x\u{d}\u{1b}[1A.`)
  const version = withManifest(proof, (manifest) => Object.assign(manifest, { version: '\u001b[2J\nIt holds' }))
  expect((await read(version)).stderr.trimEnd()).not.toMatch(/[\p{C}]/u)
})

async function endlessReceipts(): Promise<{ header: Block; nodes: Block[] }> {
  const nodes: Block[] = []
  const hold = (node: RlpStructuredData) => {
    const block = chainBlock(CODES.receiptNode, getBytes(encodeRlp(node)))
    nodes.push(block)
    return keccak256(block.bytes)
  }
  const branch = (children: readonly string[]) => hold([...children, ...Array(16 - children.length).fill('0x'), '0x'])
  const receipt = encodeRlp(['0x01', '0x01', `0x${'00'.repeat(256)}`, []])
  const below = [hold(['0x20', receipt])]
  for (let depth = 1; depth <= 6; depth += 1) below.push(branch(Array(16).fill(below.at(-1))))
  const long = branch([below[0]!, below[2]!, below[4]!, below[6]!])
  const receiptsRoot = branch([...Array(8).fill(below[1]), long])
  const newest = (await world.rpc.call('eth_getBlockByNumber', 'latest', false)) as BlockReply
  return { header: chainBlock(CODES.header, encodeHeader({ ...newest, receiptsRoot })), nodes }
}

it('rejects a file whose first block claims an excessive length', async () => {
  const nid = CID.createV1(0x70, create(0x12, createHash('sha256').update('a long file').digest()))
  const empty = { cid: nid, bytes: new Uint8Array() }
  // A block of no bytes is its name after one byte of its length.
  const header = (await carOf([empty])).subarray(0, -1 - nid.bytes.length)
  let sent = 0
  const server = createServer((request, response) => {
    if (request.url?.endsWith('raw')) return void response.writeHead(404).end()
    const claimed = varint.encodeTo(2 ** 45, new Uint8Array(varint.encodingLength(2 ** 45)))
    response.write(Buffer.concat([header, claimed, nid.bytes]))
    const megabyte = Buffer.alloc(1024 * 1024)
    const send = () => {
      while (sent < 200 && !response.destroyed) {
        sent += 1
        if (!response.write(megabyte)) return void response.once('drain', send)
      }
      response.end()
    }
    send()
  })
  const gateway = connectGateway(`http://127.0.0.1:${await listen(server, atEnd)}`)
  expect(await hashFile(nid.toString(), gateway)).toMatchObject({ result: 'unknown' })
  expect(sent).toBeLessThan(50)
})

it('rejects a newest block header with an invalid time', async () => {
  const nid = world.hold('a file of the end of time')
  await world.commit([nid, await world.write(nid, 1)])
  const newest = (await world.rpc.call('eth_getBlockByNumber', 'latest', false)) as BlockReply
  const { cid, bytes } = chainBlock(CODES.header, encodeHeader({ ...newest, timestamp: `0x${'f'.repeat(16)}` }))
  const proof = withManifest([...(await prove(world, nid)), { cid, bytes }], (manifest) =>
    Object.assign(manifest, { head: { '/': cid.toString() } }),
  )
  expect(await verify(proof)).toMatchObject({
    ...{ code: 3, verdict: 'unsettled', asOf: null },
    complete: { result: 'unknown', finding: expect.stringContaining('header') },
  })
})

it('limits the size of receipts in a proof', async () => {
  const nid = world.hold('a file with a block beside it')
  await world.commit([nid, await world.write(nid, 1)])
  const { header, nodes } = await endlessReceipts()
  const proof = withManifest([...(await prove(world, nid)), header, ...nodes], ({ blocks }) =>
    blocks.push({ header: { '/': header.cid.toString() }, transactions: [] }),
  )
  const found = await verify(proof)
  expect(found).toMatchObject({ agrees: false, complete: { result: 'unknown' } })
}, 60_000)
