/** Follows one asset from sign-up to the chain, and verifies it without code of the service. */
import { createHash } from 'node:crypto'
import { Interface, IpcSocketProvider, id as keccakOfText, verifyMessage } from 'ethers'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, inject, it } from 'vitest'
import { verifyOnline } from '../../packages/verify/src/verify.ts'
import { socketPathOf } from '../../src/embedded/local-socket.ts'
import { filesOf, nodeOf } from '../../src/modules/commits/verify-history.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp({ withChain: true })

const registry = new Interface([
  'event Commit(address indexed recorder, string indexed assetCid, string commitData)',
  'function commit(string assetCid, string commitData) returns (uint256 blockNumber)',
  'function getCommits(string assetCid) view returns (uint256[])',
])

interface HistoryCommit {
  transaction: string
  txHash: string
  assetTreeCid: string
  assetTreeSha256: string
  assetTreeSignature: string
  status: string
  changes: object
}

it('the history of an asset can be verified with only the chain and the file network', async () => {
  const account = { username: 'ada', email: 'ada@example.org', password: 'correct horse battery' }
  expect((await app.rest('POST', 'auth/users/', { json: account })).status).toBe(201)
  const actor = { token: expectOk(await app.rest('POST', 'auth/token/login/', { json: account })).auth_token }
  const file = newFile()
  const custom = {
    license: { name: 'CC-BY-4.0', document: 'https://creativecommons.org/licenses/by/4.0/' },
    own: { b: 1, a: 2 },
  }
  const texts = { caption: 'First words', headline: 'Life', commit_message: 'Born' }
  const multipart = { asset_file: file, ...texts, nit_commit_custom: JSON.stringify(custom) }
  const asset = expectOk(await app.rest('POST', 'assets/', { actor, multipart }))
  const path = `assets/${asset.cid}/`
  expectOk(await app.rest('PATCH', path, { actor, json: { caption: 'Last words', commit_message: 'Grown' } }))

  const { commits } = await eventually<{ commits: HistoryCommit[] }>(
    async () => expectOk(await app.rest('GET', `${path}history/`, { actor })),
    (history) => history.commits.every(({ status }) => status === 'final'),
  )
  expect(commits).toHaveLength(2)

  const provider = new IpcSocketProvider(socketPathOf(inject('rpcUrl'))!)
  const { registry: address, lanes } = app.chain.relay.status()
  const me = expectOk(await app.rest('GET', 'auth/users/me/', { actor }))
  const blocks: number[] = []
  for (const [index, commit] of commits.entries()) {
    expect(commit.txHash).toBe(commit.transaction)
    const receipt = (await provider.getTransactionReceipt(commit.transaction))!
    blocks.push(receipt.blockNumber)
    // Commits that were ready together share a transaction.
    const log = receipt.logs.find((each) => each.data.includes(Buffer.from(commit.assetTreeCid).toString('hex')))
    expect(log?.address).toBe(address)
    const event = registry.parseLog(log!)!
    expect(event.name).toBe('Commit')
    expect([event.args.recorder, event.args.assetCid.hash]).toEqual([lanes[0]!.address, keccakOfText(asset.cid)])

    const reported = JSON.parse(event.args.commitData)
    const action = index === 0 ? 'action-initial-registration' : 'action-commit'
    const { assetTreeCid, assetTreeSha256, assetTreeSignature } = commit
    expect(reported).toEqual({
      ...{ assetTreeCid, assetTreeSha256, assetTreeSignature, author: me.address, committer: me.address },
      ...{ provider: 'Annal', timestampCreated: expect.any(Number), action: expect.stringMatching(/^bafkrei/) },
      actionResult: `${app.url}/api/v3/assets/${asset.cid}/`,
      ...{ actionName: action, abstract: index === 0 ? 'Born' : 'Grown' },
    })
    expect(Math.abs(reported.timestampCreated - Date.now() / 1000)).toBeLessThan(120)

    const headers = { Authorization: `token ${actor.token}` }
    const response = await fetch(`${app.url}/ipfs/${reported.assetTreeCid}`, { headers })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(CID.createV1(raw.code, await sha256.digest(bytes)).toString()).toBe(reported.assetTreeCid)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(reported.assetTreeSha256)
    expect(verifyMessage(reported.assetTreeSha256, reported.assetTreeSignature)).toBe(me.address)
    const tree = JSON.parse(Buffer.from(bytes).toString())
    expect(Buffer.from(bytes).toString()).toBe(JSON.stringify(tree, null, 2))
    expect(tree).toEqual({
      assetCid: asset.cid,
      assetSha256: createHash('sha256')
        .update(await file.bytes())
        .digest('hex'),
      ...{ encodingFormat: 'image/png', assetTimestampCreated: Math.floor(Date.parse(asset.uploaded_at) / 1000) },
      ...{ assetCreator: 'ada', creatorWallet: me.address, license: custom.license, own: custom.own },
      ...{ abstract: index === 0 ? 'First words' : 'Last words', headline: 'Life' },
    })
  }
  expect(blocks[0]!).toBeLessThanOrEqual(blocks[1]!)
  const call = await provider.call({ to: address!, data: registry.encodeFunctionData('getCommits', [asset.cid]) })
  expect(registry.decodeFunctionResult('getCommits', call)[0].map(Number)).toEqual([...new Set(blocks)])
  provider.destroy()

  expect(expectOk(await app.rest('GET', path, { actor })).integrity_info).toEqual([
    { search_id: commits[0]!.transaction, explorer_url: '' },
  ])
  // 12 points − 2 × (0.1 + 0.079)
  expect([me.points, me.asset_wallet_num]).toEqual(['11.642', '0.0'])
  expect(app.log.lines).toEqual([])
})

it('verifies a file that was deleted and registered again by another user', async () => {
  const [one, other] = [await app.newUser(), await app.newUser()]
  const file = newFile()
  const settled = async (nid: string, commits: number) => {
    await eventually(
      () =>
        app.sql<{ status: string }>(
          `select r.status::text from commit_relays r join commits c on c.id = r.commit_id
             join assets a on a.id = c.asset_id where a.nid = $1`,
          [nid],
        ),
      (rows) => rows.length === commits && rows.every(({ status }) => status === 'FINAL'),
    )
  }
  const { id } = await one.register({ asset_file: file })
  expectOk(await one.rest('PATCH', `assets/${id}/`, { json: { caption: 'Changed' } }))
  // Each registration is deleted before the chain contains it. The order on the chain is still correct.
  expect((await one.rest('DELETE', `assets/${id}/`)).status).toBe(204)
  await one.register({ asset_file: file })
  expect((await one.rest('DELETE', `assets/${id}/`)).status).toBe(204)
  await other.register({ asset_file: file, public_access: 'true' })
  expectOk(await other.rest('PATCH', `assets/${id}/`, { json: { caption: 'Somebody else’s' } }))
  await settled(id, 5)

  const { findAddress, readChainId, rpc } = app.chain.registry
  const at = (await findAddress(await readChainId()))!
  const files = filesOf(app.installation.contentStore)
  const recorders = app.chain.relay.status().lanes.map(({ address }) => address)
  // Retries until the state can be proven. Other tests change balances between two blocks, so no header contains the change.
  const verification = await eventually(
    async () => {
      await rpc.call('evm_mine')
      return verifyOnline({ nid: id, nodes: [nodeOf(rpc)], registry: at, files, recorders })
    },
    ({ complete }) => complete.result === 'right',
  )
  expect(verification.commits.map(({ life }) => life)).toEqual([1, 1, 2, 3, 3])
  expect(verification.commits.map(({ commitData }) => commitData?.author)).toEqual([
    ...[one, one, one].map(({ address }) => address),
    ...[other, other].map(({ address }) => address),
  ])
  expect(verification).toMatchObject({ agrees: true, file: { result: 'right' }, foreign: 0 })
})
