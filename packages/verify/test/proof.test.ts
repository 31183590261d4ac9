/** Proofs from the service, and the verification by the service. Changes to a proof or the database are detected. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { id as topicOf } from 'ethers'
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { unavailable } from '../../../src/shared/errors.ts'
import { annalHere } from '../../../test/support/annal-command.ts'
import { annalVerify } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { expectOk } from '../../../test/support/expect-error.ts'
import { type FakeNode, startFakeNode } from '../../../test/support/fake-node.ts'
import { createTestApp, type SignedIn, type TestApp } from '../../../test/support/test-app.ts'
import { CODES, type Manifest } from '../src/read-proof.ts'
import type { Verification } from '../src/verification.ts'
import { type Block, blocksOf, carOf, withManifest as changeManifest, manifestOf } from './proof-blocks.ts'

let node: FakeNode
let app: TestApp
let owner: SignedIn
let dir: string
let id: string
let blocks: Block[]
let anchor: string

const download = async (rest = owner.rest) => {
  const answer = await fetch(`${app.url}/api/v3/assets/${id}/proof/`, {
    headers: rest === app.rest ? {} : { authorization: `token ${owner.token}` },
  })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

async function verify(bytes: Uint8Array, ...args: string[]): Promise<Verification & { code: number }> {
  const path = join(dir, 'proof.car')
  await writeFile(path, bytes)
  const { code, stdout, stderr } = await annalVerify(path, '--json', ...args)
  if (!stdout) throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}

const named = () => ['--registry', manifestOf(blocks).registry]
const withManifest = (change: (manifest: Manifest) => unknown) => changeManifest(blocks, change)

const isOf =
  (code: number) =>
  ({ cid }: Block) =>
    cid.code === code
const isReceiptOfCommit = (block: Block) =>
  isOf(CODES.receiptNode)(block) && Buffer.from(block.bytes).includes(topicOf(id).slice(2), 'hex')
const bent = (isMeant: (block: Block) => boolean): Block[] => {
  const last = blocks.findLastIndex(isMeant)
  return blocks.map((block, index) =>
    index === last ? { ...block, bytes: block.bytes.with(-1, block.bytes.at(-1)! ^ 1) } : block,
  )
}
const without = (code: number): Block[] => blocks.filter((block) => !isOf(code)(block))

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-proof-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  node = await startFakeNode(atEnd, inject('rpcUrl'))
  app = await createTestApp({ withChain: true, rpcUrl: node.url })
  owner = await app.newUser()
  ;({ id } = await owner.register({ caption: 'One' }))
  for (const caption of ['Two', 'Three']) expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { caption } }))
  await eventually(
    () =>
      app.sql<{ status: string }>(
        'select r.status::text from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id where a.nid = $1',
        [id],
      ),
    (rows) => rows.length === 3 && rows.every(({ status }) => status === 'FINAL'),
  )
  // Other tests change balances between two blocks, so no block header contains the change.
  const honest = await eventually(
    async () => {
      await app.chain.registry.rpc.call('evm_mine')
      const { bytes } = await download()
      return { bytes, found: await verify(bytes) }
    },
    ({ found }) => found.complete.result === 'right',
  )
  blocks = await blocksOf(honest.bytes)
  anchor = honest.found.anchors[0]!.hash
  expect(honest.found).toMatchObject({ code: 3, verdict: 'unsettled', anchors: [{}], commits: [{}, {}, {}] })
})

afterEach(() => {
  Object.assign(node, { answer: undefined, lie: undefined })
  vi.restoreAllMocks()
})

describe('proofs', () => {
  it('the command `annal proof` writes a proof that the verifier accepts', async () => {
    let count = 0
    const { written, anchors } = await eventually(
      async () => {
        count += 1
        const path = join(dir, `written-${count}.car`)
        const said = await annalHere(app.env, ['proof', id, '--out', path, '--json'])
        const written = await readFile(path)
        expect([said.code, JSON.parse(said.stdout)]).toEqual([0, { nid: id, path, bytes: written.length }])
        return { written, ...(await verify(written)) }
      },
      ({ complete }) => complete.result === 'right',
    )
    expect(await verify(written, ...named(), '--block-hash', anchors[0]!.hash)).toMatchObject({
      code: 0,
      verdict: 'holds',
    })
  })

  it('a proof is accepted offline with one trusted hash, and with the file', async () => {
    const bytes = await carOf(blocks)
    expect(await verify(bytes, ...named(), '--block-hash', anchor)).toMatchObject({
      code: 0,
      verdict: 'holds',
      file: { result: 'right' },
    })
    const other = join(dir, 'other.txt')
    await writeFile(other, 'another file')
    const beside = await verify(bytes, '--block-hash', anchor, '--file', other)
    expect(beside).toMatchObject({ code: 1, file: { result: 'wrong' } })
  })

  it('a proof is available only to callers who can see the asset', async () => {
    expect((await download(app.rest)).status).toBe(404)
  })

  it.each<[string, RegExp, () => Block[]]>([
    ['a bit of a tree', /"name":"tree","result":"wrong"/, () => bent(isOf(CODES.raw))],
    ['a bit of a receipt', /"name":"event","result":"wrong"/, () => bent(isReceiptOfCommit)],
    ['a bit of a transaction', /"name":"transaction","result":"wrong"/, () => bent(isOf(CODES.transactionNode))],
    ['a bit of the state', /"complete":\{"result":"wrong"/, () => bent(isOf(CODES.stateNode))],
    ['no trees', /"name":"tree","result":"unknown"/, () => without(CODES.raw)],
    ['no receipts', /"verdict":"unsettled".*Some receipts of block/, () => without(CODES.receiptNode)],
    [
      'no transactions',
      /"verdict":"unsettled".*"name":"transaction","result":"unknown"/,
      () => without(CODES.transactionNode),
    ],
    ['no headers', /"verdict":"unsettled".*does not contain the header/, () => without(CODES.header)],
    ['no state', /"complete":\{"result":"unknown"/, () => without(CODES.stateNode)],
    ['no last block', /"complete":\{"result":"wrong"/, () => withManifest((proof) => void proof.blocks.pop())],
    ['no first block', /"complete":\{"result":"wrong"/, () => withManifest((proof) => void proof.blocks.shift())],
    ['no blocks', /"complete":\{"result":"wrong"/, () => withManifest((proof) => void proof.blocks.splice(0))],
    [
      'another asset',
      /"verdict":"unknown"|"complete":\{"result":"(wrong|unknown)"/,
      () =>
        withManifest(
          (proof) => void Object.assign(proof, { nid: 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' }),
        ),
    ],
    [
      'another registry',
      /"verdict":"unknown"|"complete":\{"result":"unknown"/,
      () => withManifest((proof) => void Object.assign(proof, { registry: `0x${'1'.repeat(40)}` })),
    ],
    ['another chain', /signed for chain/, () => withManifest((proof) => void Object.assign(proof, { chainId: 1 }))],
    [
      'an older head',
      /"complete":\{"result":"(wrong|unknown)"/,
      () => withManifest((proof) => void Object.assign(proof, { head: proof.blocks[0]!.header })),
    ],
  ])('a proof with %s is not accepted, and the verifier names the failed check', async (_, where, change) => {
    const found = await verify(await carOf(change()), '--block-hash', anchor)
    expect(found.agrees).toBe(false)
    expect(JSON.stringify(found)).toMatch(where)
  })

  it.each<[string, RegExp, () => Promise<Uint8Array>]>([
    ['truncated', /truncated/, async () => (await carOf(blocks)).subarray(0, -100)],
    [
      'without its first block',
      /first block of the proof is missing/,
      async () =>
        carOf([blocks[0]!, ...blocks.slice(2)]).then(() =>
          carOf([{ ...blocks[0]!, bytes: Buffer.from('{}') }, ...blocks.slice(1)]),
        ),
    ],
    [
      'of another version',
      /version 2/,
      () => carOf(withManifest((proof) => void Object.assign(proof, { version: 2 }))),
    ],
    ['with a malformed header', /Block/, () => carOf(bent(isOf(CODES.header)))],
  ])('rejects a proof %s', async (_, sentence, make) => {
    const bytes = await make()
    const refusal = await verify(bytes, '--block-hash', anchor).then(
      (found) => (found.agrees ? 'it holds' : 'Block'),
      String,
    )
    expect(refusal).toMatch(sentence)
  })

  it('a proof without the trusted block has the verdict "unsettled"', async () => {
    await expect(verify(await carOf(blocks), '--block-hash', `0x${'3'.repeat(64)}`)).resolves.toMatchObject({
      code: 3,
      settled: { result: 'unknown', finding: expect.stringContaining('No block of the evidence has the hash') },
    })
  })
})

describe('verification by the service', () => {
  const ask = async () => {
    const { asset } = expectOk(
      await owner.graphql(
        `{ asset(id: "${id}") { verification { verdict chainId asOfBlock asOfTime complete { result finding } settled { result } record { result finding } commits(limit: 10) { checks { name result finding } } } } }`,
      ),
    )
    return asset.verification
  }
  const holding = () =>
    eventually(
      async () => {
        await app.chain.registry.rpc.call('evm_mine')
        return ask()
      },
      ({ complete }) => complete.result === 'RIGHT',
    )

  it.each<[string, Partial<FakeNode>]>([
    ['status 500', { answer: () => ({ status: 500, body: 'no' }) }],
    ['an HTML page', { answer: () => ({ body: '<!doctype html>' }) }],
    ['errors', { lie: () => new Error('no') }],
    ['null', { lie: () => null }],
  ])('the verification by the service is unsettled with a reason while the node returns %s', async (_, failure) => {
    Object.assign(node, failure)
    const [status, found] = [(await download()).status, await ask()]
    expect(found).toMatchObject({
      ...{ verdict: 'UNSETTLED', asOfBlock: null, asOfTime: null, chainId: null, commits: [] },
      complete: { result: 'UNKNOWN', finding: expect.stringContaining('The node of this installation') },
      record: { result: 'UNKNOWN' },
    })
    expect(status).toBe(503)
  })

  it('the verification by the service is unsettled with a reason while blocks or trees are unavailable', async () => {
    node.lie = (method) => (method === 'eth_getBlockReceipts' ? new Error('pruned') : undefined)
    expect(await ask()).toMatchObject({
      ...{ verdict: 'UNSETTLED', asOfBlock: expect.any(Number), commits: [] },
      complete: { result: 'UNKNOWN', finding: 'The node of this installation returned an error: pruned.' },
    })
    node.lie = undefined
    vi.spyOn(app.installation.contentStore, 'readBlock').mockRejectedValue(unavailable('The file store'))
    const { verdict, commits } = await ask()
    expect(verdict).toBe('UNSETTLED')
    expect(commits[0].checks).toContainEqual({
      ...{ name: 'tree', result: 'UNKNOWN', finding: 'The file store of this installation does not answer.' },
    })
  })

  it('the verification by the service matches the independent verifier', async () => {
    expect(await holding()).toMatchObject({ verdict: 'HOLDS', record: { result: 'RIGHT' } })
  })

  const second = `(select c.id from commits c join assets a on a.id = c.asset_id where a.nid = '${'$'}' and c.sequence = 2)`
  it.each<[string, string, string, RegExp]>([
    ['a changed tree hash', 'commits set tree_sha256', 'tree_sha256', /SHA-256 of the tree differs/],
    ['a changed tree CID', 'commits set tree_cid', 'tree_cid', /The tree differs/],
    ['a changed message', 'commits set message', 'message', /The message differs/],
    ['a changed signature', 'commit_relays set tree_signature', 'tree_signature', /The signature differs/],
    ['a changed transaction hash', 'commit_relays set transaction_hash', 'transaction_hash', /The transaction differs/],
  ])('the verification by the service reports %s in the database', async (_, update, column, finding) => {
    const key = update.startsWith('commits') ? 'id' : 'commit_id'
    const where = `where ${key} = ${second.replace('$', id)}`
    const table = update.split(' ')[0]
    // Triggers protect commits. The owner of the database can disable them.
    const write = async (value: string) => {
      await app.sql(`alter table ${table} disable trigger user`)
      await app.sql(`update ${update} = $1 ${where}`, [value])
      await app.sql(`alter table ${table} enable trigger user`)
    }
    const [before] = await app.sql<{ value: string }>(`select ${column} as value from ${table} ${where}`)
    const other = `${before!.value.slice(0, -1)}${before!.value.endsWith('a') ? 'b' : 'a'}`
    await write(other)
    try {
      const { verdict, commits } = await ask()
      expect(verdict).toBe('BROKEN')
      expect(commits[1].checks.find(({ name }: { name: string }) => name === 'record').finding).toMatch(finding)
    } finally {
      await write(before!.value)
    }
  })
})
