import { describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp, type SignedIn, type TestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const configured = await createTestApp({ env: { PUBLIC_URL: 'https://annal.example.org' } })

const loopback = [
  'localhost:4000',
  'LOCALHOST',
  'api.localhost:8080',
  '127.0.0.1:9',
  '127.8.9.10',
  '[::1]:4000',
] as const
const strange = [
  'evil.example',
  'evil.example:4000',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'localhost.',
  'notlocalhost',
  '10.0.0.1:4000',
  '0.0.0.0',
  '[::2]:4000',
]

interface Scene {
  user: SignedIn
  shown: string
  hidden: string
}

async function createScene({ newUser }: TestApp): Promise<Scene> {
  const user = await newUser({ num: '100' })
  const small = { width: 40, height: 30 }
  const { id: shown } = await user.register({ asset_file: await newPicture(small), public_access: 'true' })
  const { id: hidden } = await user.register({ asset_file: await newPicture(small) })
  expectOk(await user.rest('PATCH', `assets/${hidden}/`, { json: { caption: 'Changed' } }))
  expectOk(await user.rest('POST', `assets/${hidden}/links/`))
  const pictures = { profile_picture: await newPicture(small), profile_background: await newPicture(small) }
  expectOk(await user.rest('PATCH', 'auth/users/profile/', { multipart: pictures }))
  return { user, shown, hidden }
}

const URL_IN_TEXT = /https?:\/\/[^\s"<>\\]*/g
const CONSTANT = /https:\/\/schema\.org|"actionResult":"[^"]*"/g

const originsIn = ({ status, text }: Answer) => {
  expect(status, text).toBeLessThan(300)
  return [...new Set((text.replaceAll(CONSTANT, '').match(URL_IN_TEXT) ?? []).map((url) => new URL(url).origin))]
}

const document = `query ($id: ID!) { asset(id: $id) { assetFileUrl thumbnailUrl pageUrl
    links(first: 1) { nodes { url } }
    owner { profilePictureUrl profilePictureThumbnailUrl profileBackgroundUrl profileBackgroundThumbnailUrl } } }`

async function readOrigins({ user, shown, hidden }: Scene, host: string): Promise<Record<string, string[]>> {
  const headers = { host }
  const get = (path: string) => user.rest('GET', path, { headers })
  const post = (path: string) => user.rest('POST', path, { headers })
  const answers = {
    'a list': await get('assets/?limit=1&offset=1'),
    'a history': await get(`assets/${hidden}/history/?limit=1`),
    'a public asset': await get(`assets/${shown}/`),
    'a private asset': await get(`assets/${hidden}/`),
    'a download': await post(`assets/${hidden}/download/`),
    'a public file with Content Credentials': await post(`assets/${shown}/c2pa/`),
    'a private file with Content Credentials': await post(`assets/${hidden}/c2pa/`),
    'a new link': await post(`assets/${hidden}/links/`),
    links: await get(`assets/${hidden}/links/`),
    'a profile': await get('auth/users/me/'),
    graphql: await user.graphql(document, { id: hidden }, { headers }),
    'the home page': await get('/'),
    'the page of an asset': await get(`/assets/${shown}`),
  }
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, originsIn(answer)]))
}

const allOf = (origins: object, origin: string) =>
  Object.fromEntries(Object.keys(origins).map((name) => [name, [origin]]))

describe('servers without PUBLIC_URL', async () => {
  const scene = await createScene(app)

  it.each(loopback)('a server without PUBLIC_URL uses the loopback host %s of the request in URLs', async (host) => {
    const origins = await readOrigins(scene, host)
    expect(origins).toEqual(allOf(origins, `http://${host.toLowerCase()}`))
  })

  it.each(strange)(
    'a server without PUBLIC_URL does not use the untrusted host %s of the request in URLs',
    async (host) => {
      const origins = await readOrigins(scene, host)
      expect(origins).toEqual(allOf(origins, app.url))
    },
  )

  it("the actionResult of a commit contains the server's own URL, not the host of the request", async () => {
    const history = await scene.user.rest('GET', `assets/${scene.shown}/history/`, { headers: { host: 'localhost:1' } })
    expect(expectOk(history).commits[0].actionResult).toBe(`${app.url}/api/v3/assets/${scene.shown}/`)
  })
})

describe('servers with PUBLIC_URL', async () => {
  const scene = await createScene(configured)

  it.each(['localhost:4000', 'evil.example'])(
    'a server with PUBLIC_URL returns URLs that start with PUBLIC_URL for the host %s',
    async (host) => {
      const origins = await readOrigins(scene, host)
      expect(origins).toEqual(allOf(origins, 'https://annal.example.org'))
    },
  )
})
