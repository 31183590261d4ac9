/** Two doors, one truth: the same action by REST and by GraphQL, for each kind of actor, with the same outcome and the same state. */
import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { codeOf } from '../support/expect-error.ts'
import type { Answer } from '../support/http-client.ts'
import { createTestApp, newFile, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()

const kinds = ['anonymous', 'stranger', 'owner', 'admin'] as const
type Kind = (typeof kinds)[number]

interface World {
  owner: SignedIn
  actor: SignedIn | undefined
  nid: string
  file: File
}

interface Door {
  rest: (world: World, send: SignedIn['rest']) => Promise<Answer>
  graphql: (world: World, send: SignedIn['graphql']) => Promise<Answer>
  shown?: { rest: (body: never, world: World) => unknown; graphql: (data: never, world: World) => unknown }
}

interface Case extends Door {
  publicAccess?: boolean
  points?: string
  expected: Record<Kind, ErrorCode | 'ok'>
}

const all = (code: ErrorCode | 'ok') => ({ anonymous: code, stranger: code, owner: code, admin: code })
const signedIn = { ...all('ok'), anonymous: 'NOT_AUTHENTICATED' as const }
const ownersAlone = { ...all('NOT_FOUND'), owner: 'ok' as const }

const captionOf = {
  rest: (asset: { caption: string }) => asset.caption,
  graphql: ({ asset }: { asset: { caption: string } }) => asset.caption,
}
const readAsset: Door = {
  rest: ({ nid }, send) => send('GET', `assets/${nid}/`),
  graphql: ({ nid }, send) => send('query ($id: ID!) { asset(id: $id) { caption } }', { id: nid }),
  shown: captionOf as never,
}
const history: Door = {
  rest: ({ nid }, send) => send('GET', `assets/${nid}/history/`),
  graphql: ({ nid }, send) =>
    send('query ($id: ID!) { asset(id: $id) { history { message status changes } } }', { id: nid }),
  shown: {
    rest: ({ commits }: { commits: { commitMessage: string; status: string; changes: object }[] }) =>
      commits.map(({ commitMessage, status, changes }) => ({ message: commitMessage, status, changes })),
    graphql: ({ asset }: { asset: { history: { status: string }[] } }) =>
      asset.history.map((commit) => ({ ...commit, status: commit.status.toLowerCase() })),
  } as never,
}
const update = (json: object, input: object = json): Door => ({
  rest: ({ nid }, send) => send('PATCH', `assets/${nid}/`, { json }),
  graphql: ({ nid }, send) =>
    send('mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { caption } } }', {
      input: { id: nid, ...input },
    }),
  shown: {
    rest: captionOf.rest,
    graphql: ({ updateAssetMetadata }: { updateAssetMetadata: never }) => captionOf.graphql(updateAssetMetadata),
  } as never,
})
const remove: Door = {
  rest: ({ nid }, send) => send('DELETE', `assets/${nid}/`),
  graphql: ({ nid }, send) =>
    send('mutation ($input: DeleteAssetInput!) { deleteAsset(input: $input) { id } }', { input: { id: nid } }),
}
const register = (fileOf: (world: World) => File): Door => ({
  rest: (world, send) => send('POST', 'assets/', { multipart: { asset_file: fileOf(world), caption: 'New' } }),
  graphql: (world, send) =>
    send('mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { caption } } }', {
      input: { caption: 'New', assetFile: fileOf(world) },
    }),
  shown: {
    rest: captionOf.rest,
    graphql: ({ registerAsset }: { registerAsset: never }) => captionOf.graphql(registerAsset),
  } as never,
})
const list = (path: (world: World) => string, filter: (world: World) => object): Door => ({
  rest: (world, send) => send('GET', path(world)),
  graphql: (world, send) =>
    send('query ($filter: AssetFilter) { assets(filter: $filter) { totalCount nodes { id } } }', {
      filter: filter(world),
    }),
  shown: {
    rest: ({ results }: { results: { id: string }[] }, { nid }: World) =>
      results.map(({ id }) => id === nid).filter(Boolean),
    graphql: ({ assets }: { assets: { nodes: { id: string }[] } }, { nid }: World) =>
      assets.nodes.map(({ id }) => id === nid).filter(Boolean),
  } as never,
})

const cases: Record<string, Case> = {
  'reading a public asset': { ...readAsset, publicAccess: true, expected: all('ok') },
  'reading a private asset': { ...readAsset, expected: ownersAlone },
  'reading the history of a public asset': { ...history, publicAccess: true, expected: all('ok') },
  'reading the history of a private asset': { ...history, expected: ownersAlone },
  'listing without a filter, with a public asset': {
    ...list(
      () => 'assets/',
      () => ({}),
    ),
    publicAccess: true,
    expected: all('ok'),
  },
  'listing without a filter, with a private asset': {
    ...list(
      () => 'assets/',
      () => ({}),
    ),
    expected: all('ok'),
  },
  'listing an owner’s assets, one private': {
    ...list(
      ({ owner }) => `assets/?owner=${encodeURIComponent(owner.email)}`,
      ({ owner }) => ({ owner: owner.email }),
    ),
    expected: all('ok'),
  },
  'updating a public asset': {
    ...update({ caption: 'Changed' }),
    publicAccess: true,
    expected: {
      anonymous: 'NOT_AUTHENTICATED',
      stranger: 'ASSET_WRITE_PERMISSION_DENIED',
      owner: 'ok',
      admin: 'ASSET_WRITE_PERMISSION_DENIED',
    },
  },
  'updating a private asset': {
    ...update({ caption: 'Changed' }),
    expected: { ...ownersAlone, anonymous: 'NOT_AUTHENTICATED' },
  },
  'updating custom fields': {
    ...update({ nit_commit_custom: { a: 1 } }, { nitCommitCustom: { a: 1 } }),
    expected: { ...ownersAlone, anonymous: 'NOT_AUTHENTICATED' },
  },
  'updating nothing': { ...update({}), expected: { ...ownersAlone, anonymous: 'NOT_AUTHENTICATED' } },
  'updating with a headline that is too long': {
    ...update({ headline: 'x'.repeat(26) }),
    expected: { ...all('VALIDATION_FAILED'), anonymous: 'NOT_AUTHENTICATED' },
  },
  'updating with an empty wallet': {
    ...update({ caption: 'Unpaid' }),
    points: '0.179',
    expected: { ...ownersAlone, anonymous: 'NOT_AUTHENTICATED', owner: 'ASSET_COMMIT_INSUFFICIENT_FUND' },
  },
  'deleting a public asset': {
    ...remove,
    publicAccess: true,
    expected: {
      anonymous: 'NOT_AUTHENTICATED',
      stranger: 'ASSET_WRITE_PERMISSION_DENIED',
      owner: 'ok',
      admin: 'ASSET_WRITE_PERMISSION_DENIED',
    },
  },
  'deleting a private asset': { ...remove, expected: { ...ownersAlone, anonymous: 'NOT_AUTHENTICATED' } },
  registering: { ...register(() => newFile()), expected: { ...signedIn, admin: 'ASSET_COMMIT_INSUFFICIENT_FUND' } },
  'registering what is registered': {
    ...register(({ file }) => file),
    expected: { ...all('DUPLICATE_ASSET'), anonymous: 'NOT_AUTHENTICATED', admin: 'ASSET_COMMIT_INSUFFICIENT_FUND' },
  },
  'registering an empty file': {
    ...register(() => new File([], 'empty.png')),
    expected: { ...all('VALIDATION_FAILED'), anonymous: 'NOT_AUTHENTICATED', admin: 'ASSET_COMMIT_INSUFFICIENT_FUND' },
  },
  'asking who one is': {
    rest: (_, send) => send('GET', 'auth/users/me/'),
    graphql: (_, send) => send('{ me { id email role wallet { address } } }'),
    shown: {
      rest: ({ id, email, address }: { id: string; email: string; address: string }, { actor }: World) => [
        id === actor?.publicId,
        email === actor?.email,
        address === actor?.address,
      ],
      graphql: ({ me }: { me: { id: string; email: string; wallet: { address: string } } }, { actor }: World) => [
        me.id === actor?.publicId,
        me.email === actor?.email,
        me.wallet.address === actor?.address,
      ],
    } as never,
    expected: signedIn,
  },
  'signing out': {
    rest: (_, send) => send('POST', 'auth/token/logout/'),
    graphql: (_, send) => send('mutation { signOut }'),
    expected: signedIn,
  },
}

async function createWorld(kind: Kind, { publicAccess = false, points = '12' }: Case): Promise<World> {
  const owner = await app.newUser({ points })
  const file = newFile()
  const { id } = await owner.register({ asset_file: file, caption: 'Original', public_access: String(publicAccess) })
  const others = {
    anonymous: undefined,
    stranger: () => app.newUser({ points }),
    owner: () => owner,
    admin: () => app.admin(),
  }
  return { owner, actor: await others[kind]?.(), nid: id, file }
}

async function stateOf({ owner, actor, nid }: World) {
  const [asset] = await app.sql(
    `select caption, headline, custom, public_access, head_sequence, deleted_at is not null as deleted,
       (select count(*)::int from commits c where c.asset_id = a.id) as commits,
       (select count(*)::int from pins p where p.asset_id = a.id) as pins
     from assets a where nid = $1`,
    [nid],
  )
  const mine =
    actor &&
    (await app.sql('select caption from assets where owner_id = $1::uuid and deleted_at is null order by id', [
      actor.id,
    ]))
  const sessions =
    actor && (await app.sql('select count(*)::int as n from access_tokens where user_id = $1::uuid', [actor.id]))
  return { asset, mine, sessions, ownersWallet: await app.wallet(owner), wallet: actor && (await app.wallet(actor)) }
}

async function carryOut(kind: Kind, test: Case, door: 'rest' | 'graphql') {
  const world = await createWorld(kind, test)
  const answer =
    door === 'rest'
      ? await test.rest(world, world.actor?.rest ?? app.rest)
      : await test.graphql(world, world.actor?.graphql ?? app.graphql)
  const data = door === 'rest' ? answer.body : answer.body.data
  const code = codeOf(answer) ?? 'ok'
  const shown = code === 'ok' ? test.shown?.[door](data as never, world) : undefined
  return { code, shown, state: await stateOf(world) }
}

describe.each(Object.entries(cases))('%s', (_, test) => {
  it.each(kinds)('by %s is the same at both doors', async (kind) => {
    const [rest, graphql] = await Promise.all([carryOut(kind, test, 'rest'), carryOut(kind, test, 'graphql')])
    expect(graphql).toEqual(rest)
    expect(rest.code).toBe(test.expected[kind])
    const untouched = { caption: 'Original', head_sequence: 1, deleted: false, commits: 1 }
    if (rest.code !== 'ok') expect(rest.state.asset).toMatchObject(untouched)
  })
})
