/** Free requests answer the same for a file that someone registered privately and for a file that nobody registered. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
import type { RestOptions } from '../../support/rest-client.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({ withChain: true })
const store = await createStore(app)

interface Subject {
  file: File
  nid: string
  sha256: string
  treeCid: string
}

async function subjectOf(file: File, treeCid: string): Promise<Subject> {
  return {
    file,
    nid: (await app.installation.contentStore.identifyFile(file.stream() as never)).cid,
    sha256: createHash('sha256')
      .update(await file.bytes())
      .digest('hex'),
    treeCid,
  }
}

const owner = await app.newUser({ num: '100' })
const other = await app.newUser({ num: '100' })
const file = newFile()
const { id } = await owner.register({ asset_file: file })
const hidden = await subjectOf(file, expectOk(await owner.rest('GET', `assets/${id}/history/`)).commits[0].assetTreeCid)
const tree = await app.installation.contentStore.identifyFile(newFile().stream() as never)
const absent = await subjectOf(newFile(), tree.cid)

const callers = { 'another user': (): Pick<SignedIn, 'rest' | 'graphql'> => other, 'an anonymous caller': () => app }

function learned({ status, headers, text }: Answer, { nid, sha256, treeCid }: Subject) {
  const reported = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
  const named = (value: string) =>
    [nid, sha256, treeCid].reduce((rest, name, index) => rest.replaceAll(name, `{${index}}`), value)
  return { status, headers: reported.map(([name, value]) => [name, named(value)]), text: named(text) }
}

type Call = (caller: Pick<SignedIn, 'rest' | 'graphql'>, subject: Subject) => Promise<Answer>

const fill = (text: string, { nid, sha256, treeCid }: Subject) =>
  text.replaceAll('{nid}', nid).replaceAll('{sha256}', sha256).replaceAll('{tree}', treeCid)

const page = { headers: { Accept: 'text/html' } }
const json = (body: object) => ({ json: body, headers: store.service })
const tooLong = json({ caption: 'x'.repeat(5_000) })
const revert = json({ revert_to: '1' })
const withHeaders = (headers: Record<string, string>) => ({ headers })

const requests: [request: string, options?: RestOptions][] = [
  ['POST quotes/assets/{nid}/', json({ caption: 'x' })],
  ['POST quotes/assets/{nid}/', tooLong],
  ['POST quotes/assets/{nid}/revert/', revert],
  ['GET lookup/?cid={nid}'],
  ['GET lookup/?sha256={sha256}'],
  ['GET assets/{nid}/'],
  ['GET assets/{nid}/', withHeaders({ 'If-None-Match': '*' })],
  ['HEAD assets/{nid}/'],
  ['GET assets/?proof_hash={sha256}'],
  ['PATCH assets/{nid}/', json({ caption: 'x' })],
  ['PATCH assets/{nid}/', tooLong],
  ['PATCH assets/{nid}/', { json: { caption: 'x' }, headers: { 'If-Match': '"commit_0"' } }],
  ['DELETE assets/{nid}/'],
  ['POST assets/{nid}/revert/', revert],
  ['POST assets/{nid}/download/', json({})],
  ['POST assets/{nid}/links/', json({})],
  ['GET assets/{nid}/links/'],
  ['DELETE assets/{nid}/links/'],
  ['GET assets/{nid}/history/'],
  ['GET history/?nid={nid}'],
  ['GET assets/{nid}/tree/'],
  ['GET assets/{nid}/content-credentials/'],
  ['GET assets/{nid}/c2pa/'],
  ['POST assets/{nid}/c2pa/', json({})],
  ['GET assets/{nid}/proof/'],
  ['GET /ipfs/{nid}'],
  ['HEAD /ipfs/{nid}'],
  ['GET /ipfs/{nid}', withHeaders({ 'If-None-Match': '*' })],
  ['GET /ipfs/{nid}', withHeaders({ Range: 'bytes=0-0' })],
  ['GET /ipfs/{nid}', withHeaders({ 'Cache-Control': 'only-if-cached' })],
  ['GET /ipfs/{nid}?format=raw'],
  ['GET /ipfs/{nid}?format=car'],
  ['GET /ipfs/{nid}?asset=x&expires=9999999999&signature=x'],
  ['GET /ipfs/{tree}'],
  ['GET /ipfs/{tree}?format=raw'],
  ['GET /assets/{nid}', page],
  ['GET /assets/{nid}?link=link_0&signature=x', page],
  ['GET /assets/{nid}?expires=9999999999&signature=x', page],
  ['GET /lookup?file={sha256}', page],
]
const documents = [
  '{ quote(input: { updateAssetMetadata: { id: "{nid}", caption: "x" } }) { total problems { code } } }',
  '{ asset(id: "{nid}") { nid commitCount } }',
  '{ node(id: "{nid}") { id } }',
  '{ lookup(cid: "{nid}") { totalCount nodes { nid } } }',
  '{ lookup(sha256: "{sha256}") { totalCount } }',
  '{ assets(filter: { proofHash: "{sha256}" }) { totalCount } }',
  '{ mergedAssetTree(trees: [{ assetTreeCid: "{tree}", createdAt: "2026-01-01T00:00:00Z" }]) { mergedAssetTree } }',
  'mutation { updateAssetMetadata(input: { id: "{nid}", caption: "x" }) { asset { nid } } }',
  'mutation { deleteAsset(input: { id: "{nid}" }) { id } }',
  'mutation { createAssetLink(input: { id: "{nid}" }) { link { id } } }',
]
const QUOTE =
  'query ($file: Upload!) { quote(input: { registerAsset: { assetFile: $file } }) { total problems { code message field } } }'

const calls: [name: string, call: Call][] = [
  ...requests.map(([request, options]): [string, Call] => {
    const [method, path] = request.split(' ') as [string, string]
    return [request, ({ rest }, subject) => rest(method, fill(path, subject), options)]
  }),
  ...documents.map((document): [string, Call] => [
    document,
    ({ graphql }, subject) => graphql(fill(document, subject), {}, { headers: store.service }),
  ]),
  ...['assets/?dry_run=true', 'quotes/assets/'].map((path): [string, Call] => [
    `POST ${path}`,
    ({ rest }, { file }) => rest('POST', path, { multipart: { asset_file: file } }),
  ]),
  ['GET assets/?owner', ({ rest }, { sha256 }) => rest('GET', `assets/?owner=${owner.email}&proof_hash=${sha256}`)],
  [
    'POST assets/merge-trees/',
    ({ rest }, { treeCid: assetTreeCid }) =>
      rest('POST', 'assets/merge-trees/', json([{ assetTreeCid, timestampCreated: 1 }])),
  ],
  ['query quote with a file', ({ graphql }, { file }) => graphql(QUOTE, { file })],
]

describe.each(Object.entries(callers))('calls by %s', (_, callerOf) => {
  it.each(calls)('the call %s returns the same for a hidden asset as for a missing asset', async (_, call) => {
    const caller = callerOf()
    const answer = learned(await call(caller, absent), absent)
    expect(answer.text).not.toMatch(/Resource not found|Cannot query|Variable/)
    expect(learned(await call(caller, hidden), hidden)).toEqual(answer)
  })
})

describe('quotes of registrations', () => {
  const problemsFor = async ({ graphql }: SignedIn, file: File) => {
    const document =
      'query ($file: Upload!) { quote(input: { registerAsset: { assetFile: $file } }) { problems { code } } }'
    return expectOk(await graphql(document, { file })).quote.problems.map(({ code }: { code: string }) => code)
  }

  it("the quote of a registration reports a duplicate of the caller's own asset", async () => {
    expect(await problemsFor(owner, hidden.file)).toEqual(['DUPLICATE_ASSET'])
    expect(await problemsFor(other, hidden.file)).toEqual([])
  })

  it('the quote of a registration reports a duplicate of a public asset', async () => {
    const file = newFile()
    await owner.register({ asset_file: file, public_access: 'true' })
    expect(await problemsFor(other, file)).toEqual(['DUPLICATE_ASSET'])
  })

  it('the quote of a registration does not replace the duplicate check of the registration', async () => {
    const before = await app.wallet(other)
    expectError(await other.rest('POST', 'assets/', { multipart: { asset_file: hidden.file } }), 'DUPLICATE_ASSET')
    expect(await app.wallet(other)).toEqual(before)
  })
})
