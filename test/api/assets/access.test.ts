/** Checks who may read, change, delete and register assets, for each kind of caller and over both APIs. */
import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/shared/errors.ts'
import { type Api, bothApis, type Caller, type Result } from '../../support/api.ts'
import { codeOf, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()

const kinds = ['anonymous', 'stranger', 'owner', 'admin'] as const
type Kind = (typeof kinds)[number]
type Expected = ErrorCode | 'ok'

/** An asset, its owner and the caller. Each request gets new ones. */
interface Scene {
  owner: SignedIn
  user: SignedIn | undefined
  id: string
  file: File
}

interface Case {
  call: (api: Api, caller: Caller, scene: Scene) => Promise<Result>
  isPublic?: boolean
  /** Points of the owner and the caller. */
  points?: string
  expected: Record<Kind, Expected>
}

const all = (code: Expected): Record<Kind, Expected> => ({ anonymous: code, stranger: code, owner: code, admin: code })
const ownerOnly = { ...all('NOT_FOUND'), owner: 'ok' as const }
const signedIn = { ...all('ok'), anonymous: 'NOT_AUTHENTICATED' as const }
const ownerWrites = { ...ownerOnly, anonymous: 'NOT_AUTHENTICATED' as const }
const publicWrites = { ...all('ASSET_WRITE_PERMISSION_DENIED'), anonymous: 'NOT_AUTHENTICATED', owner: 'ok' } as const
const read: Case['call'] = (api, caller, { id }) => api.readAsset(caller, { id })
const update =
  (fields: object): Case['call'] =>
  (api, caller, { id }) =>
    api.updateAssetMetadata(caller, { id, ...fields })
const register =
  (fileOf: (scene: Scene) => File): Case['call'] =>
  (api, caller, scene) =>
    api.registerAsset(caller, { assetFile: fileOf(scene), caption: 'New' })
// Administrators have no points here.
const cannotPay = { admin: 'ASSET_COMMIT_INSUFFICIENT_FUND', anonymous: 'NOT_AUTHENTICATED' } as const
const readHistory: Case['call'] = (api, caller, { id }) => api.readHistory(caller, { id })
const remove: Case['call'] = (api, caller, { id }) => api.deleteAsset(caller, { id })
const missing: Case['call'] = (api, caller) => api.deleteAsset(caller, { id: `bafkrei${'a'.repeat(52)}` })

const cases: Record<string, Case> = {
  'read a public asset': { call: read, isPublic: true, expected: all('ok') },
  'read a private asset': { call: read, expected: ownerOnly },
  'read the history of a public asset': { call: readHistory, isPublic: true, expected: all('ok') },
  'read the history of a private asset': { call: readHistory, expected: ownerOnly },
  'update a public asset': { call: update({ caption: 'Changed' }), isPublic: true, expected: publicWrites },
  'update a private asset': { call: update({ caption: 'Changed' }), expected: ownerWrites },
  'update custom fields': { call: update({ nitCommitCustom: { a: 1 } }), expected: ownerWrites },
  'update without changes': { call: update({}), expected: ownerWrites },
  'update with an invalid headline': {
    call: update({ headline: 'x'.repeat(26) }),
    expected: { ...all('VALIDATION_FAILED'), anonymous: 'NOT_AUTHENTICATED' },
  },
  'update with an empty wallet': {
    call: update({ caption: 'Unpaid' }),
    points: '0.179',
    expected: { ...ownerWrites, owner: 'ASSET_COMMIT_INSUFFICIENT_FUND' },
  },
  'delete a public asset': { call: remove, isPublic: true, expected: publicWrites },
  'delete a private asset': { call: remove, expected: ownerWrites },
  'delete a missing asset': { call: missing, expected: { ...all('NOT_FOUND'), anonymous: 'NOT_AUTHENTICATED' } },
  'register a file': { call: register(() => newFile()), expected: { ...signedIn, ...cannotPay } },
  'register a duplicate': { call: register(({ file }) => file), expected: { ...all('DUPLICATE_ASSET'), ...cannotPay } },
  'register an empty file': {
    call: register(() => new File([], 'empty.png')),
    expected: { ...all('VALIDATION_FAILED'), ...cannotPay },
  },
}

async function createScene(kind: Kind, { isPublic = false, points = '12' }: Case): Promise<Scene> {
  const owner = await app.newUser({ points })
  const file = newFile()
  const { id } = await owner.register({ asset_file: file, caption: 'Original', public_access: String(isPublic) })
  const users = {
    anonymous: () => undefined,
    stranger: () => app.newUser({ points }),
    owner: () => owner,
    admin: () => app.admin(),
  }
  return { owner, user: await users[kind](), id, file }
}

/** All state that the requests may change. */
async function stateOf({ owner, user, id }: Scene) {
  const [asset] = await app.sql(
    `select caption, headline, custom, public_access, head_sequence, deleted_at is not null as deleted,
       (select count(*)::int from commits c where c.asset_id = a.id) as commits,
       (select count(*)::int from pins p where p.asset_id = a.id) as pins
     from assets a where nid = $1`,
    [id],
  )
  const own = 'select caption from assets where owner_id = $1::uuid and deleted_at is null order by id'
  const assets = user && (await app.sql(own, [user.id]))
  return { asset, assets, ownersWallet: await app.wallet(owner), wallet: user && (await app.wallet(user)) }
}

async function run(api: Api, kind: Kind, one: Case) {
  const scene = await createScene(kind, one)
  return { code: codeOf(await one.call(api, scene.user ?? app, scene)) ?? 'ok', state: await stateOf(scene) }
}

describe.each(Object.entries(cases))('operation: %s', (_, one) => {
  it.each(kinds)('the operation has the same result over both APIs for the caller: %s', async (kind) => {
    const [rest, graphql] = await Promise.all(bothApis.map((api) => run(api, kind, one)))
    expect(graphql).toEqual(rest)
    expect(rest!.code).toBe(one.expected[kind])
    const untouched = { caption: 'Original', head_sequence: 1, deleted: false, commits: 1 }
    if (rest!.code !== 'ok') expect(rest!.state.asset).toMatchObject(untouched)
  })
})

describe.each(bothApis)('list of assets over $name', (api) => {
  it('the list of assets contains only assets that the caller may see', async () => {
    const [owner, stranger] = [await app.newUser(), await app.newUser()]
    const shown = (await owner.register({ public_access: 'true' })).id
    const hidden = (await owner.register()).id
    const ids = async (caller: Caller, filter: { owner?: string }) => {
      const { results, assets } =
        api.name === 'REST'
          ? expectOk(await caller.rest('GET', `assets/?${new URLSearchParams(filter)}`))
          : expectOk(
              await caller.graphql('query ($filter: AssetFilter) { assets(filter: $filter) { nodes { id } } }', {
                filter,
              }),
            )
      const seen = (results ?? assets.nodes).map(({ id }: { id: string }) => id)
      return [shown, hidden].map((id) => seen.includes(id))
    }
    const byOwner = { owner: owner.email }
    for (const filter of [{}, byOwner]) expect(await ids(owner, filter)).toEqual([true, true])
    for (const caller of [stranger, await app.admin(), app]) {
      expect(await ids(caller, byOwner)).toEqual([true, false])
      if (caller !== app) expect(await ids(caller, {})).toEqual([false, false])
    }
    expect(await ids(app, {})).toEqual([true, false])
  })
})
