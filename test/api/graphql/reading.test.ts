import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '5' })
const other = await app.newUser()
const shown: string[] = []
for (let i = 0; i < 7; i++)
  shown.push((await user.register({ public_access: 'true', tag: 'shown', caption: `Shown ${i}` })).id)
const hidden: string = (await user.register({ tag: 'hidden' })).id
const newestFirst = [...shown].reverse()

it('the query `me` returns the caller with all private fields', async () => {
  const document =
    '{ me { id username email address role language emailVerified displayName wallet { address num points spendable } assetCount } }'
  expect(expectOk(await user.graphql(document)).me).toEqual({
    id: user.publicId,
    username: user.username,
    email: user.email,
    address: user.address,
    role: 'USER',
    language: 'en-us',
    emailVerified: false,
    displayName: user.username,
    wallet: { address: user.address, num: '5', points: '10.568', spendable: '15.568' },
    assetCount: 8,
  })
})

describe('the query `asset`', () => {
  const document =
    '{ asset(id: "ID") { id nid caption isOwn publicAccess owner { username email wallet { num } } commits(first: 1) { nodes { sequence status } } } }'
  it('the query `asset` returns a public asset to anyone, without private fields of its owner', async () => {
    expect(expectOk(await app.graphql(document.replace('ID', shown[0]!))).asset).toEqual({
      id: shown[0],
      nid: shown[0],
      caption: 'Shown 0',
      isOwn: false,
      publicAccess: true,
      owner: { username: user.username, email: null, wallet: null },
      commits: { nodes: [{ sequence: 1, status: 'PENDING' }] },
    })
  })
})

describe('the query `node`', () => {
  const document =
    'query ($id: ID!) { node(id: $id) { __typename id ... on User { username email } ... on Asset { caption owner { username } } ... on Commit { sequence message user { username } } } }'
  const node = async (id: string, graphql = user.graphql) => expectOk(await graphql(document, { id })).node

  it('the query `node` returns users, assets and commits by their IDs', async () => {
    expect(await node(user.publicId)).toEqual({
      __typename: 'User',
      id: user.publicId,
      username: user.username,
      email: user.email,
    })
    expect(await node(shown[0]!)).toEqual({
      __typename: 'Asset',
      id: shown[0],
      caption: 'Shown 0',
      owner: { username: user.username },
    })
    const { asset } = expectOk(await user.graphql(`{ asset(id: "${shown[0]}") { headId registration { id } } }`))
    expect(asset.registration.id).toBe(asset.headId)
    expect(await node(asset.headId)).toEqual({
      __typename: 'Commit',
      id: asset.headId,
      sequence: 1,
      message: '',
      user: { username: user.username },
    })
  })

  it('the query `node` returns nothing that other queries hide', async () => {
    const { asset } = expectOk(await user.graphql(`{ asset(id: "${hidden}") { headId } }`))
    for (const graphql of [other.graphql, app.graphql]) {
      expect(await node(hidden, graphql)).toBeNull()
      expect(await node(asset.headId, graphql)).toBeNull()
      expect((await node(user.publicId, graphql)).email).toBeNull()
    }
  })

  it.each([
    'user_01h2xcejqtf2nbrexx3vqjhp41',
    'commit_01h2xcejqtf2nbrexx3vqjhp41',
    'user_nonsense',
    'nonsense',
    '',
    'token_01h2xcejqtf2nbrexx3vqjhp41',
    'USER_x',
    '_',
  ])('the query `node` returns null for %j', async (id) => {
    expect(await node(id)).toBeNull()
  })
})

it('the query `pricing` returns the cost of a commit', async () => {
  expect(expectOk(await app.graphql('{ pricing { assetUpdateFee gasFee total currency } }')).pricing).toEqual({
    assetUpdateFee: '0.1',
    gasFee: '0.079',
    total: '0.179',
    currency: 'NUM',
  })
})

describe('connections', () => {
  const fields =
    'edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'
  const connections: [string, (args: string) => string, (data: never) => Page][] = [
    [
      'assets',
      (args) => `{ assets(filter: { tag: "shown" }, ${args}) { totalCount ${fields} } }`,
      (data) => (data as { assets: Page }).assets,
    ],
    [
      'assets of a user',
      (args) => `{ node(id: "${user.publicId}") { ... on User { assets(${args}) { ${fields} } } } }`,
      (data) => (data as { node: { assets: Page } }).node.assets,
    ],
  ]
  interface Page {
    totalCount?: number
    edges: { cursor: string; node: { id: string } }[]
    nodes: { id: string }[]
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string }
  }

  describe.each(connections)('connection of %s', (_, document, pick) => {
    const page = async (args: string) => pick(expectOk(await app.graphql(document(args))) as never)

    it.each([1, 2, 3, 7, 10])(
      'a connection can be read forwards in pages of %d, without gaps or duplicates',
      async (size) => {
        const seen: string[] = []
        let after = ''
        for (;;) {
          const { edges, nodes, pageInfo } = await page(`first: ${size}${after}`)
          expect(nodes).toEqual(edges.map(({ node }) => node))
          expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]!.cursor, edges.at(-1)!.cursor])
          seen.push(...nodes.map(({ id }) => id))
          if (!pageInfo.hasNextPage) break
          after = `, after: "${pageInfo.endCursor}"`
        }
        expect(seen).toEqual(newestFirst)
      },
    )

    it.each([1, 2, 3, 7])(
      'a connection can be read backwards in pages of %d, without gaps or duplicates',
      async (size) => {
        const seen: string[] = []
        let before = ''
        for (;;) {
          const { nodes, pageInfo } = await page(`last: ${size}${before}`)
          seen.unshift(...nodes.map(({ id }) => id))
          if (!pageInfo.hasPreviousPage) break
          before = `, before: "${pageInfo.startCursor}"`
        }
        expect(seen).toEqual(newestFirst)
      },
    )

    it.each([
      '"nonsense"',
      '""',
      '"R1BDOkQ6MQ=="',
      '"Y3Vyc29yOm5vdCBhIHV1aWQ="',
      '"GPC:S:nonsense"',
      '"R1BDOlM6bm9uc2Vuc2U="',
    ])('a connection rejects the malformed cursor %s', async (cursor) => {
      for (const args of [`first: 2, after: ${cursor}`, `last: 2, before: ${cursor}`]) {
        expectError(await app.graphql(document(args)), 'VALIDATION_FAILED')
      }
    })
  })

  it('the connection of commits starts with the newest commit, and the asset history with the oldest', async () => {
    const { id } = await user.register()
    for (const caption of ['One', 'Two', 'Three'])
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption } }))
    const document = `query ($after: String) { asset(id: "${id}") { history { sequence } commits(first: 3, after: $after) { nodes { sequence } pageInfo { hasNextPage endCursor } } } }`
    const first = expectOk(await user.graphql(document)).asset
    expect(first.history.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4])
    expect(first.commits.nodes.map(({ sequence }: { sequence: number }) => sequence)).toEqual([4, 3, 2])
    const second = expectOk(await user.graphql(document, { after: first.commits.pageInfo.endCursor })).asset
    expect(second.commits).toMatchObject({ nodes: [{ sequence: 1 }], pageInfo: { hasNextPage: false } })
    for (const after of ['nonsense', '', 'R1BDOko6WzFd'])
      expectError(await user.graphql(document, { after }), 'VALIDATION_FAILED')
  })
})
