/** Free requests answer the same for a file that someone registered privately and for a file that nobody registered. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
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
  const { cid } = await app.installation.contentStore.identifyFile(file.stream() as never)
  return {
    file,
    nid: cid,
    sha256: createHash('sha256')
      .update(await file.bytes())
      .digest('hex'),
    treeCid,
  }
}

let owner: SignedIn
let other: SignedIn
let hidden: Subject
let absent: Subject

beforeAll(async () => {
  owner = await app.newUser({ num: '100' })
  other = await app.newUser({ num: '100' })
  const file = newFile()
  const { id } = await owner.register({ asset_file: file })
  const { commits } = expectOk(await owner.rest('GET', `assets/${id}/history/`))
  hidden = await subjectOf(file, commits[0].assetTreeCid)
  const tree = await app.installation.contentStore.identifyFile(newFile().stream() as never)
  absent = await subjectOf(newFile(), tree.cid)
})

const callers = {
  'another user': (): Pick<SignedIn, 'rest' | 'graphql'> => other,
  'an anonymous caller': () => app,
}

function learned({ status, headers, text }: Answer, { nid, sha256, treeCid }: Subject) {
  const told = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
  const named = (value: string) =>
    [nid, sha256, treeCid].reduce((rest, name, index) => rest.replaceAll(name, `{${index}}`), value)
  return { status, headers: told.map(([name, value]) => [name, named(value)]), text: named(text) }
}

type Call = (caller: Pick<SignedIn, 'rest' | 'graphql'>, subject: Subject) => Promise<Answer>

const get =
  (pathOf: (subject: Subject) => string, headers = {}): Call =>
  ({ rest }, subject) =>
    rest('GET', pathOf(subject), { headers })
const send =
  (method: string, pathOf: (subject: Subject) => string, json?: (subject: Subject) => object): Call =>
  ({ rest }, subject) =>
    rest(method, pathOf(subject), { json: json?.(subject), headers: store.service })
const form =
  (path: string): Call =>
  ({ rest }, { file }) =>
    rest('POST', path, { multipart: { asset_file: file } })
const ask =
  (document: string, variablesOf: (subject: Subject) => object = () => ({})): Call =>
  ({ graphql }, subject) =>
    graphql(document.replaceAll('{nid}', subject.nid), variablesOf(subject), { headers: store.service })

const file = ({ nid }: Subject) => `/ipfs/${nid}`
const tree = ({ treeCid }: Subject) => `/ipfs/${treeCid}`

const calls: Record<string, Call> = {
  'POST assets/?dry_run=true': form('assets/?dry_run=true'),
  'POST quotes/assets/': form('quotes/assets/'),
  'POST quotes/assets/{nid}/': send(
    'POST',
    ({ nid }) => `quotes/assets/${nid}/`,
    () => ({ caption: 'x' }),
  ),
  'POST quotes/assets/{nid}/ with an invalid field': send(
    'POST',
    ({ nid }) => `quotes/assets/${nid}/`,
    () => ({
      caption: 'x'.repeat(5_000),
    }),
  ),
  'POST quotes/assets/{nid}/revert/': send(
    'POST',
    ({ nid }) => `quotes/assets/${nid}/revert/`,
    () => ({
      revert_to: '1',
    }),
  ),
  'GET lookup/ by CID': get(({ nid }) => `lookup/?cid=${nid}`),
  'GET lookup/ by SHA-256': get(({ sha256 }) => `lookup/?sha256=${sha256}`),
  'GET assets/{nid}/': get(({ nid }) => `assets/${nid}/`),
  'GET assets/{nid}/ with If-None-Match': get(({ nid }) => `assets/${nid}/`, { 'If-None-Match': '*' }),
  'HEAD assets/{nid}/': ({ rest }, { nid }) => rest('HEAD', `assets/${nid}/`),
  'GET assets/?proof_hash=': get(({ sha256 }) => `assets/?proof_hash=${sha256}`),
  'GET assets/?owner=&proof_hash=': get(({ sha256 }) => `assets/?owner=${owner.email}&proof_hash=${sha256}`),
  'PATCH assets/{nid}/': send(
    'PATCH',
    ({ nid }) => `assets/${nid}/`,
    () => ({ caption: 'x' }),
  ),
  'PATCH assets/{nid}/ with an invalid field': send(
    'PATCH',
    ({ nid }) => `assets/${nid}/`,
    () => ({
      caption: 'x'.repeat(5_000),
    }),
  ),
  'PATCH assets/{nid}/ with If-Match': ({ rest }, { nid }) =>
    rest('PATCH', `assets/${nid}/`, { json: { caption: 'x' }, headers: { 'If-Match': '"commit_0"' } }),
  'DELETE assets/{nid}/': send('DELETE', ({ nid }) => `assets/${nid}/`),
  'POST assets/{nid}/revert/': send(
    'POST',
    ({ nid }) => `assets/${nid}/revert/`,
    () => ({ revert_to: '1' }),
  ),
  'POST assets/{nid}/download/': send(
    'POST',
    ({ nid }) => `assets/${nid}/download/`,
    () => ({}),
  ),
  'POST assets/{nid}/links/': send(
    'POST',
    ({ nid }) => `assets/${nid}/links/`,
    () => ({}),
  ),
  'GET assets/{nid}/links/': get(({ nid }) => `assets/${nid}/links/`),
  'DELETE assets/{nid}/links/': send('DELETE', ({ nid }) => `assets/${nid}/links/`),
  'GET assets/{nid}/history/': get(({ nid }) => `assets/${nid}/history/`),
  'GET history/?nid=': get(({ nid }) => `history/?nid=${nid}`),
  'GET assets/{nid}/tree/': get(({ nid }) => `assets/${nid}/tree/`),
  'GET assets/{nid}/content-credentials/': get(({ nid }) => `assets/${nid}/content-credentials/`),
  'GET assets/{nid}/c2pa/': get(({ nid }) => `assets/${nid}/c2pa/`),
  'POST assets/{nid}/c2pa/': send('POST', ({ nid }) => `assets/${nid}/c2pa/`),
  'GET assets/{nid}/proof/': get(({ nid }) => `assets/${nid}/proof/`),
  'POST assets/merge-trees/': send(
    'POST',
    () => 'assets/merge-trees/',
    ({ treeCid }) => [{ assetTreeCid: treeCid, timestampCreated: 1 }],
  ),
  'GET /ipfs/{nid}': get(file),
  'HEAD /ipfs/{nid}': ({ rest }, subject) => rest('HEAD', file(subject)),
  'GET /ipfs/{nid} with If-None-Match': get(file, { 'If-None-Match': '*' }),
  'GET /ipfs/{nid} with Range': get(file, { Range: 'bytes=0-0' }),
  'GET /ipfs/{nid} with only-if-cached': get(file, { 'Cache-Control': 'only-if-cached' }),
  'GET /ipfs/{nid} as a block': get((subject) => `${file(subject)}?format=raw`),
  'GET /ipfs/{nid} as a CAR': get((subject) => `${file(subject)}?format=car`),
  'GET /ipfs/{nid} with a wrong signature': get((subject) => `${file(subject)}?asset=x&expires=9999999999&signature=x`),
  'GET /ipfs/{tree}': get(tree),
  'GET /ipfs/{tree} as a block': get((subject) => `${tree(subject)}?format=raw`),
  'GET /assets/{nid}': get(({ nid }) => `/assets/${nid}`, { Accept: 'text/html' }),
  'GET /assets/{nid} with a wrong link': get(({ nid }) => `/assets/${nid}?link=link_0&signature=x`, {
    Accept: 'text/html',
  }),
  'GET /assets/{nid} with a wrong signature': get(({ nid }) => `/assets/${nid}?expires=9999999999&signature=x`, {
    Accept: 'text/html',
  }),
  'GET /lookup': get(({ sha256 }) => `/lookup?file=${sha256}`, { Accept: 'text/html' }),
  'query quote with a file': ask(
    'query ($file: Upload!) { quote(input: { registerAsset: { assetFile: $file } }) { total problems { code message field } } }',
    ({ file }) => ({ file }),
  ),
  'query quote of an update': ask(
    '{ quote(input: { updateAssetMetadata: { id: "{nid}", caption: "x" } }) { total problems { code } } }',
  ),
  'query asset': ask('{ asset(id: "{nid}") { nid commitCount } }'),
  'query node': ask('{ node(id: "{nid}") { id } }'),
  'query lookup by CID': ask('{ lookup(cid: "{nid}") { totalCount nodes { nid } } }'),
  'query lookup by SHA-256': ask('query ($hash: String) { lookup(sha256: $hash) { totalCount } }', ({ sha256 }) => ({
    hash: sha256,
  })),
  'query assets': ask(
    'query ($hash: String) { assets(filter: { proofHash: $hash }) { totalCount } }',
    ({ sha256 }) => ({
      hash: sha256,
    }),
  ),
  'query mergedAssetTree': ask(
    'query ($tree: CID!) { mergedAssetTree(trees: [{ assetTreeCid: $tree, createdAt: "2026-01-01T00:00:00Z" }]) { mergedAssetTree } }',
    ({ treeCid }) => ({ tree: treeCid }),
  ),
  'mutation updateAssetMetadata': ask(
    'mutation { updateAssetMetadata(input: { id: "{nid}", caption: "x" }) { asset { nid } } }',
  ),
  'mutation deleteAsset': ask('mutation { deleteAsset(input: { id: "{nid}" }) { id } }'),
  'mutation createAssetLink': ask('mutation { createAssetLink(input: { id: "{nid}" }) { link { id } } }'),
}

describe.each(Object.entries(callers))('for %s, the call', (_, callerOf) => {
  it.each(Object.entries(calls))('%s returns the same for a hidden asset and a missing one', async (_, call) => {
    const caller = callerOf()
    const answer = learned(await call(caller, absent), absent)
    expect(answer.text).not.toMatch(/Resource not found|Cannot query|Variable/)
    expect(learned(await call(caller, hidden), hidden)).toEqual(answer)
  })
})

describe('the quote of a registration', () => {
  const problemsFor = async ({ graphql }: SignedIn, file: File) => {
    const document =
      'query ($file: Upload!) { quote(input: { registerAsset: { assetFile: $file } }) { problems { code } } }'
    const { quote } = expectOk(await graphql(document, { file }))
    return quote.problems.map(({ code }: { code: string }) => code)
  }

  it('reports a duplicate of an asset of the caller', async () => {
    expect(await problemsFor(owner, hidden.file)).toEqual(['DUPLICATE_ASSET'])
    expect(await problemsFor(other, hidden.file)).toEqual([])
  })

  it('reports a duplicate of a public asset', async () => {
    const file = newFile()
    await owner.register({ asset_file: file, public_access: 'true' })
    expect(await problemsFor(other, file)).toEqual(['DUPLICATE_ASSET'])
  })

  it('does not replace the duplicate check of the registration', async () => {
    const before = await app.wallet(other)
    const answer = await other.rest('POST', 'assets/', { multipart: { asset_file: hidden.file } })
    expectError(answer, 'DUPLICATE_ASSET')
    expect(await app.wallet(other)).toEqual(before)
  })
})
