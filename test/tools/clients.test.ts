/** Tools as people use them, against the service as it starts. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { readEvents } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { send } from '../support/http-client.ts'
import { startAnother } from '../support/start-another.ts'
import { createTestApp, newFile, type SignedIn } from '../support/test-app.ts'
import { sinceJune2018 } from './dialects.ts'
import { generateCode } from './generate-code.ts'
import { askTwiceByApollo } from './hashed-queries.ts'
import { commitUpdated, followChanges, subscribers } from './subscriptions.ts'
import { uploaders } from './uploads.ts'

const app = await createTestApp()
const endpointOf = ({ token }: SignedIn) => ({ url: `${app.url}/graphql`, token })
const sorted = (sdl: string) => printSchema(lexicographicSortSchema(buildSchema(sdl)))

it('graphql-codegen generates code that compiles, and a manifest with __typename that the service trusts', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-codegen-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const { sdl, manifest } = await generateCode(`${app.url}/graphql`, dir)
  expect(sorted(sdl)).toBe(sorted(await readFile('schema.graphql', 'utf8')).replace(sinceJune2018, ''))

  const env = { ...app.env, GRAPHQL_TRUSTED_DOCUMENTS: manifest, GRAPHQL_TRUSTED_ONLY: 'true' }
  const strict = await startAnother({ ...app, installation: { ...app.installation, config: readConfig(env) } })
  onTestFinished(() => strict.stop())
  const documents = Object.entries<string>(JSON.parse(await readFile(manifest, 'utf8')))
  const idOf = (name: string) => documents.find(([, text]) => text.includes(` ${name}`))![0]
  for (const name of ['Me', 'Rename']) expect(documents.find(([id]) => id === idOf(name))![1]).toMatch(/\{ __typename/)
  const user = await app.newUser({ num: '100' })
  const { id } = await user.register()
  const ask = (name: string, variables: object = {}) =>
    send(`${strict.url}/graphql`, { json: { documentId: idOf(name), variables }, token: user.token })
  expect(expectOk(await ask('Me'))).toMatchObject({ __typename: 'Query', me: { username: user.username } })

  const events = await readEvents(`${strict.url}/graphql`, {
    actor: user,
    body: { documentId: idOf('Commits'), variables: { nid: id } },
  })
  onTestFinished(async () => events.close())
  const renamed = await ask('Rename', { input: { id, caption: 'Renamed' } })
  expect(expectOk(renamed)).toMatchObject({ __typename: 'Mutation', updateAssetMetadata: { asset: { id } } })
  const [first] = await eventually(
    () => events.events,
    ({ length }) => length > 0,
  )
  expect(first!.data.data).toMatchObject({ commitUpdated: { __typename: 'Commit' } })
})

it.each([
  ['POST', false],
  ['GET', true],
] as const)('a document is sent once by Apollo Client, and named from then on by %s', async (method, byGet) => {
  const user = await app.newUser()
  const query = `query ${method} { me { username } }`
  const { data, sent } = await askTwiceByApollo(endpointOf(user), query, byGet)
  expect(data).toMatchObject({ me: { username: user.username } })
  expect(sent).toEqual([
    { method, hasDocument: false },
    { method: 'POST', hasDocument: true },
    { method, hasDocument: false },
  ])
})

describe.each(subscribers)('a subscription by $name', ({ follow }) => {
  it('tells from then on everything that happens, in order', async () => {
    const user = await app.newUser({ num: '100' })
    const { id } = await user.register()
    const change = async (n: number) =>
      void expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: `Caption ${n}` } }))
    const sequences = await followChanges({ follow, endpoint: endpointOf(user), nid: id, change })
    expect(sequences.length).toBeGreaterThan(2)
    expect(sequences).toEqual(sequences.map((_, index) => sequences[0]! + index))
  })

  it('is refused in words', async () => {
    const stranger = await app.newUser()
    const { id } = await (await app.newUser()).register()
    const stream = follow(endpointOf(stranger), commitUpdated, { nid: id })[Symbol.asyncIterator]()
    await expect(stream.next()).rejects.toThrow('not found')
  })
})

describe.each(uploaders)('an upload by $name', ({ upload }) => {
  it('registers the file', async () => {
    const user = await app.newUser()
    const file = newFile('photo ä.png')
    const id = await upload(endpointOf(user), file)
    expect(expectOk(await user.rest('GET', `assets/${id}/`))).toMatchObject({
      asset_file_name: 'photo ä.png',
      asset_file_size: file.size,
      caption: 'By a client',
    })
  })

  it('is refused in words', async () => {
    const poor = await app.newUser({ points: '0' })
    await expect(upload(endpointOf(poor), newFile())).rejects.toThrow(/Insufficient fund/)
  })
})
