import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const PATH = 'auth/users/profile/'
const none = {
  profile_picture: null,
  profile_picture_thumbnail: null,
  profile_background: null,
  profile_background_thumbnail: null,
}
const FIELDS = 'profilePictureUrl profilePictureThumbnailUrl profileBackgroundUrl profileBackgroundThumbnailUrl'
const UPDATE = `mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { user { ${FIELDS} } } }`

const patch = (user: SignedIn, multipart: Record<string, File | string>) => user.rest('PATCH', PATH, { multipart })
const picturesOf = ({ profile_picture, profile_picture_thumbnail, ...rest }: typeof none) => ({
  profile_picture,
  profile_picture_thumbnail,
  profile_background: rest.profile_background,
  profile_background_thumbnail: rest.profile_background_thumbnail,
})
async function look(url: string) {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { response, ...(response.ok ? await sharp(bytes).metadata() : {}) }
}

describe('profile pictures', () => {
  it('a profile picture is stored upright, resized and without metadata, with a thumbnail, and is public', async () => {
    const user = await app.newUser()
    const profile = expectOk(
      await patch(user, {
        display_name: 'Ana',
        profile_picture: await newPicture({ width: 1600, height: 1200, orientation: 6 }),
        profile_background: await newPicture({ width: 2400, height: 800, format: 'png' }),
      }),
    )
    expect(profile.display_name).toBe('Ana')
    const seen = await Promise.all(Object.values(picturesOf(profile)).map((url) => look(url!)))
    expect(seen.map(({ format, width, height, exif }) => ({ format, width, height, exif }))).toEqual([
      { format: 'webp', width: 768, height: 1024 },
      { format: 'webp', width: 192, height: 256 },
      { format: 'webp', width: 2048, height: 683 },
      { format: 'webp', width: 512, height: 171 },
    ])
    for (const { response } of seen) {
      expect(response.headers.get('content-type')).toBe('image/webp')
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    }
    expect(expectOk(await user.rest('GET', 'auth/users/me/')).profile).toEqual(profile)
    expect(expectOk(await user.rest('GET', PATH))).toEqual(profile)
    const document = `query ($id: ID!) { node(id: $id) { ... on User { ${FIELDS} } } }`
    expect(Object.values(expectOk(await app.graphql(document, { id: user.publicId })).node)).toEqual(
      Object.values(picturesOf(profile)),
    )
  })

  it('a replaced profile picture gets a new URL, and null removes the picture', async () => {
    const user = await app.newUser()
    const first = expectOk(
      await patch(user, { profile_picture: await newPicture(), profile_background: await newPicture() }),
    )
    const second = expectOk(await patch(user, { profile_picture: await newPicture() }))
    expect(second.profile_picture).not.toBe(first.profile_picture)
    expect(second.profile_background).toBe(first.profile_background)
    expect((await look(first.profile_picture)).response.status).toBe(404)
    const third = expectOk(await user.rest('PATCH', PATH, { json: { profile_picture: null, description: 'Bare' } }))
    expect(third).toMatchObject({ profile_picture: null, profile_picture_thumbnail: null, description: 'Bare' })
    expect(third.profile_background).toBe(first.profile_background)
    expect(picturesOf(expectOk(await patch(user, { profile_background: '' })))).toEqual(none)
  })

  it('a profile picture is kept if the form is sent without a chosen file', async () => {
    const user = await app.newUser()
    const before = expectOk(await patch(user, { profile_picture: await newPicture() }))
    const unchosen = new File([], '', { type: 'application/octet-stream' })
    expect(expectOk(await patch(user, { display_name: 'Bo', profile_picture: unchosen }))).toEqual({
      ...before,
      display_name: 'Bo',
    })
  })

  it('a profile picture can be set and removed over GraphQL', async () => {
    const user = await app.newUser()
    const { updateProfile } = expectOk(await user.graphql(UPDATE, { input: { profileBackground: await newPicture() } }))
    expect(updateProfile.user.profilePictureUrl).toBeNull()
    expect((await look(updateProfile.user.profileBackgroundThumbnailUrl)).format).toBe('webp')
    const removed = expectOk(await user.graphql(UPDATE, { input: { profileBackground: null } }))
    expect(Object.values(removed.updateProfile.user)).toEqual([null, null, null, null])
  })

  it('a profile picture is set once for one idempotency key', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const multipart = { profile_picture: await newPicture() }
    const first = expectOk(await user.rest('PATCH', PATH, { headers, multipart }))
    const again = await user.rest('PATCH', PATH, { headers, multipart })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(expectOk(again)).toEqual(first)
    const another = { profile_picture: await newPicture() }
    expectError(await user.rest('PATCH', PATH, { headers, multipart: another }), 'IDEMPOTENCY_KEY_REUSED')
  })
})

describe('invalid profile pictures', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>'
  it.each([
    ['an SVG drawing', new File([svg], 'a.png', { type: 'image/png' })],
    ['plain text', new File(['words'], 'a.jpg', { type: 'image/jpeg' })],
    ['an empty file', new File([], 'a.jpg', { type: 'image/jpeg' })],
    ['a URL', 'https://example.org/a.png'],
  ])(
    'rejects an invalid profile picture with an error for its field, and changes nothing: %s',
    async (_, profile_picture) => {
      const user = await app.newUser()
      const { body } = expectError(await patch(user, { display_name: 'Changed', profile_picture }), 'VALIDATION_FAILED')
      expect(body.error.details).toEqual({ profile_picture: [expect.any(String)] })
      const { display_name, ...profile } = expectOk(await user.rest('GET', PATH))
      expect([display_name, picturesOf(profile)]).toEqual([user.username, none])
    },
  )

  it('both APIs reject a profile picture over 10 MB', async () => {
    const user = await app.newUser()
    const file = new File([new Uint8Array(10_000_001)], 'a.png', { type: 'image/png' })
    expectError(await patch(user, { profile_picture: file }), 'PAYLOAD_TOO_LARGE')
    expectError(await user.graphql(UPDATE, { input: { profilePicture: file } }), 'PAYLOAD_TOO_LARGE')
  })
})

it('the account export contains the profile picture, and account deletion deletes it', async () => {
  const user = await app.newUser()
  const profile = expectOk(await patch(user, { profile_picture: await newPicture({ width: 40, height: 30 }) }))
  const { pictures } = expectOk(await user.rest('GET', 'auth/users/me/export/'))
  expect(pictures).toEqual([{ kind: 'PROFILE', picture: expect.any(String), createdAt: expect.any(String) }])
  const { format, width } = await sharp(Buffer.from(pictures[0].picture, 'base64')).metadata()
  expect([format, width]).toEqual(['webp', 40])
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  expect(await app.sql('select 1 from pictures where user_id = $1::uuid', [user.id])).toEqual([])
  for (const url of [profile.profile_picture, profile.profile_picture_thumbnail]) {
    expect((await look(url)).response.status).toBe(404)
  }
})

it.each(['nonsense', randomUUID(), `${randomUUID()}/thumbnail`])(
  'returns 404 for the unknown picture %s',
  async (id) => {
    expectError(await app.rest('GET', `/pictures/${id}`), 'NOT_FOUND')
  },
)
