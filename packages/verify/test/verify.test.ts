/** The standalone verifier: its command line, with real HTTP servers and a real chain. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { beforeAll, describe, expect, it } from 'vitest'
import { annalVerify as run } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { type FakeNode, startFakeNode, startToldGateway, type ToldGateway } from '../../../test/support/fake-node.ts'
import { createTestApp, type SignedIn, type TestApp } from '../../../test/support/test-app.ts'
import reader from '../package.json' with { type: 'json' }
import type { Verification } from '../src/verification.ts'

let app: TestApp
let owner: SignedIn
let node: FakeNode
let gateway: ToldGateway
let registry: string

const someRegistry = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

const verify = (nid: string, ...args: string[]) =>
  run(nid, '--rpc', node.url, '--registry', registry, '--gateway', gateway.url, ...args)

async function judge(nid: string, ...args: string[]): Promise<Verification & { code: number }> {
  const { code, stdout: out, stderr: err } = await verify(nid, '--json', ...args)
  if (!out) throw new Error(err)
  return { code, ...JSON.parse(out) }
}

const proven = (nid: string) =>
  eventually(
    async () => {
      await app.chain.registry.rpc.call('evm_mine')
      return judge(nid)
    },
    ({ complete }) => complete.result === 'right',
  )

const settled = (nid: string) =>
  eventually(
    () =>
      app.sql<{ status: string }>(
        'select r.status::text from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id where a.nid = $1',
        [nid],
      ),
    (rows) => rows.length > 0 && rows.every(({ status }) => status === 'FINAL'),
  )

beforeAll(async () => {
  app = await createTestApp({ withChain: true })
  owner = await app.newUser()
  node = await startFakeNode(atEnd, app.env.CHAIN_RPC_URL!)
  gateway = await startToldGateway(atEnd, app.url)
  registry = (await eventually(
    async () => app.chain.registry.findAddress(await app.chain.registry.readChainId()),
    (address) => address !== undefined,
  ))!
})

describe('annal-verify', () => {
  it('annal-verify accepts an unaltered history and lists the changes of each commit', async () => {
    const { id } = await owner.register({ public_access: 'true', caption: 'One' })
    for (const caption of ['Two', 'Three']) await owner.rest('PATCH', `assets/${id}/`, { json: { caption } })
    await settled(id)
    const found = await proven(id)
    expect(found).toMatchObject({
      ...{ code: 0, verdict: 'holds', agrees: true, foreign: 0, complete: { result: 'right' } },
      ...{ settled: { result: 'right' }, file: { result: 'right' } },
    })
    expect(found.commits.map(({ changes }) => changes?.abstract)).toEqual([undefined, ['One', 'Two'], ['Two', 'Three']])
    const { stdout } = await verify(id)
    expect(stdout).toMatch(/action-initial-registration[\s\S]*action-commit +abstract +right/)
  })

  it('annal-verify reads a file of several blocks in parts', async () => {
    const large = new File(
      [new Uint8Array(600_000).map((_, at) => at % 251), String(performance.timeOrigin)],
      'large.bin',
    )
    const { id } = await owner.register({ public_access: 'true', asset_file: large })
    await settled(id)
    expect(id).toMatch(/^bafybei/)
    expect(await judge(id)).toMatchObject({ file: { result: 'right' } })
  })

  it('annal-verify accepts other encodings of the CID', async () => {
    const { id } = await owner.register({ public_access: 'true' })
    await settled(id)
    for (const text of [id.toUpperCase(), base58btc.encode(CID.parse(id).bytes), `ipfs://${id}`]) {
      expect(await proven(text)).toMatchObject({ code: 0, verdict: 'holds', nid: id })
    }
  })

  it('annal-verify reports "unknown" for an unregistered file', async () => {
    const nid = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
    expect(await judge(nid)).toMatchObject({ code: 1, verdict: 'unknown', commits: [] })
  })

  it.each([
    [[], 2],
    [['bafkrei'], 2],
    [['bafkrei', '--rpc', 'http://127.0.0.1:1', '--registry', '0x1', '--gateway', 'http://127.0.0.1:1'], 2],
    [['bafkrei', '--rpc', 'ipc:///chain.ipc', '--registry', someRegistry, '--gateway', 'http://127.0.0.1:1'], 2],
    [['bafkrei', '--rpc', 'http://127.0.0.1:1', '--registry', someRegistry, '--gateway', 'annal.example'], 2],
    [['bafkrei', '--rpc', 'http://127.0.0.1:1', '--registry', someRegistry, '--gateway', 'http://127.0.0.1:1'], 2],
    [['no-such.car', '--recorder', 'Annal'], 2],
    [['no-such.car', '--block-hash', 'f'.repeat(64)], 2],
    [['no-such.car'], 2],
  ])('annal-verify rejects the arguments %j with exit code %i and a sentence', async (args, code) => {
    expect(await run(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/\w/) })
  })
})

describe('published package', () => {
  it('the published verifier package depends only on five pinned packages', () => {
    const folder = join(import.meta.dirname, '../src')
    const imported = readdirSync(folder).flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name!),
    )
    expect(imported.filter((name) => name.startsWith('../../../test/'))).toEqual([])
    const packages = imported.filter((name) => !/^(\.|node:)/.test(name))
    const names = packages.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    expect([...new Set(names)].sort()).toEqual(Object.keys(reader.dependencies).sort())
    expect(names.length && Object.keys(reader.dependencies).length).toBeLessThanOrEqual(5)
  })
})
