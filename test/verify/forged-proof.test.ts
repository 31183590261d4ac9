/** Proofs that somebody made up: whatever is put into the file, the verifier does not say that it holds. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { connectNode } from '../../src/verify/chain-node.ts'
import type { Verification } from '../../src/verify/verification.ts'
import { writeProof } from '../../src/verify/write-proof.ts'
import { relayKeys, startChain } from '../chain/support/anvil.ts'
import { annalVerify } from '../support/annal-verify.ts'
import { atEnd } from '../support/at-end.ts'
import { createForger, type Forger } from './forger.ts'
import { type Block, blocksOf, carOf, manifestOf, withManifest } from './proof-blocks.ts'

type World = Forger & { url: string }

let dir: string
/** The chain that everybody knows. */
let world: World
/** One that the forger keeps at home: a registry at the same address, and whatever account they like writes to it. */
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

/** What is said of a proof at a terminal. */
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

/** All that a reader can know: the newest block, a node, the registry and whose commits count. */
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

it('a block that was made up is not settled by the true one of the same number', async () => {
  const nid = home.hold('a file that nobody registered')
  const other = world.hold('a file of somebody')
  // In the second block of either chain.
  await world.commit([other, await world.write(other, 1)])
  await home.commit([nid, await home.write(nid, 1)], [nid, await home.write(nid, 2)])
  const [forged, honest] = [await prove(home, nid), await prove(world, other)]
  expect(await verify(honest, ...(await everything()))).toMatchObject({ code: 0, verdict: 'holds' })
  const [{ header }] = manifestOf(honest).blocks as [{ header: { '/': string } }]
  const both = [...forged, ...honest.slice(1)]
  for (const place of [0, 1]) {
    const proof = withManifest(both, ({ blocks }) => blocks.splice(place, 0, { header, transactions: [] }))
    const found = await verify(proof, ...known())
    expect(found).toMatchObject({ code: 1, settled: { result: 'wrong' }, anchors: [{ number: 2 }, { number: 2 }] })
    expect(await verify(proof, '--block-hash', (await everything())[1]!)).toMatchObject({ agrees: false })
  }
})

it('a block that is shown twice counts once', async () => {
  const nid = world.hold('a file that is registered once')
  await world.commit([nid, await world.write(nid, 1)])
  const proof = withManifest(await prove(world, nid), ({ blocks }) => blocks.push(...blocks))
  expect(await verify(proof, ...(await everything()))).toMatchObject({ code: 0, commits: [{ life: 1 }] })
})

it.each([
  ['of which the trees tell another SHA-256', 'the file', 'another file'],
  ['that names no file', undefined, 'a file'],
])('an identifier %s is found, also where that file is given', async (_, named, told) => {
  const nid = named ? world.hold(named) : 'bafkr4ihkr4ld3m4gqkjf4reryxsy2s5tkbxprqkow6fin2iiyvreuzzab4'
  const assetSha256 = createHash('sha256').update(told).digest('hex')
  await world.commit([nid, await world.write(nid, 1, undefined, { assetSha256 })])
  const proof = await prove(world, nid)
  const path = join(dir, 'told.jpg')
  await writeFile(path, told)
  for (const file of [[], ['--file', path]]) {
    const found = await verify(proof, ...(await everything()), ...file)
    expect(found).toMatchObject({ code: 1, file: { result: 'wrong' } })
  }
})

it('nobody’s words move the cursor of whoever reads what was found, or pass for lines and columns of it', async () => {
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
  expect(stdout).toContain(String.raw`The tree is about x\u{d}\u{1b}[1A.`)
  const version = withManifest(proof, (manifest) => Object.assign(manifest, { version: '\u001b[2J\nIt holds' }))
  expect((await read(version)).stderr.trimEnd()).not.toMatch(/[\p{C}]/u)
})
