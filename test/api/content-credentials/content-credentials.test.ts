/** The report on the manifest of a registered file if a check needs an operation that the sandbox forbids. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { withRemoteManifest } from '../../support/hostile-manifests.ts'
import { jwkIssuer, withIdentity } from '../../support/identity-assertions.ts'
import { readManifests } from '../../support/manifests.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const DID_WEB = 'did:web:connected-identities.identity.adobe.com'

const newJpeg = async () => Buffer.from(await (await newPicture({ width: 40, height: 30 })).arrayBuffer())

async function register(bytes: Uint8Array, type = 'image/jpeg') {
  const asset_file = new File([new Uint8Array(bytes)], 'portrait', { type })
  const { id, uuid } = await user.register({ asset_file, public_access: 'true' })
  await app.jobs.manifest({ assetId: uuid })
  const fields = 'state signer notChecked problems remoteManifestUrl'
  const { asset } = expectOk(await user.graphql(`{ asset(id: "${id}") { contentCredentials { ${fields} } } }`))
  return {
    id: id as string,
    rest: expectOk(await user.rest('GET', `assets/${id}/content-credentials/`)).content_credentials,
    graphql: asset.contentCredentials,
    page: (await app.rest('GET', `/assets/${id}`)).text,
  }
}

it('reports a manifest with a did:web identity as valid, with its identity unchecked', async () => {
  const { id, rest, graphql, page } = await register(
    await withIdentity(await newJpeg(), DID_WEB, { dir: app.env.ANNAL_DIR! }),
  )
  expect(rest).toMatchObject({
    state: 'VALID',
    title: 'A portrait',
    generator: 'Camera 1',
    signer: 'Development signer',
    actions: ['c2pa.opened', 'c2pa.edited'],
    problems: ['signingCredential.untrusted'],
    not_checked: ['identity not checked'],
    remote_manifest_url: null,
  })
  expect(graphql).toMatchObject({ state: 'VALID', notChecked: ['identity not checked'], remoteManifestUrl: null })
  expect(page).toContain('<dd>identity not checked</dd>')
  const copy = await user.rest('GET', `assets/${id}/c2pa/`)
  expect([copy.status, (await readManifests(copy.bytes, 'image/jpeg')).count]).toEqual([200, 2])
  const again = await register(copy.bytes)
  expect(again.rest).toMatchObject({ state: 'VALID', not_checked: ['identity not checked'], manifest_count: 2 })
})

it('reports a manifest as invalid if its identity is forged or the file was changed', async () => {
  const dir = app.env.ANNAL_DIR!
  const forged = await register(await withIdentity(await newJpeg(), jwkIssuer(), { dir, isForged: true }))
  expect(forged.rest).toMatchObject({
    state: 'INVALID',
    problems: expect.arrayContaining(['cawg.ica.signature_mismatch']),
  })
  const changed = await withIdentity(await newJpeg(), DID_WEB, { dir })
  changed[changed.length - 10]! ^= 1
  expect((await register(changed)).rest).toMatchObject({
    state: 'INVALID',
    problems: expect.arrayContaining(['assertion.dataHash.mismatch']),
    not_checked: ['identity not checked'],
  })
})

it('reports a remote manifest with its URL, and does not fetch it', async () => {
  const url = 'https://manifests.example.org/a?b=1&amp;c=2'
  const { id, rest, graphql, page } = await register(withRemoteManifest(await newJpeg(), url))
  const remoteManifestUrl = 'https://manifests.example.org/a?b=1&c=2'
  expect(rest).toMatchObject({
    state: 'REMOTE',
    problems: [],
    not_checked: ['remote manifest, not fetched'],
    remote_manifest_url: remoteManifestUrl,
    manifest_count: 0,
  })
  expect(graphql).toMatchObject({ state: 'REMOTE', notChecked: ['remote manifest, not fetched'], remoteManifestUrl })
  expect(page).toContain('<dd>remote manifest, not fetched</dd>')
  expect(page).toContain('<dd>https://manifests.example.org/a?b=1&amp;c=2</dd>')
  const copy = await user.rest('GET', `assets/${id}/c2pa/`)
  const { state, assertions } = await readManifests(copy.bytes, 'image/jpeg')
  expect([copy.status, state, assertions['c2pa.actions.v2'].actions[0].action]).toEqual([200, 'Valid', 'c2pa.opened'])
})

it('accepts the time stamp of an unknown authority after the signing certificate has expired', async () => {
  const { id, rest } = await register(
    await readFile(join(import.meta.dirname, '../../ecosystem/c2pa/expired-signer.jpg')),
  )
  expect(rest).toMatchObject({
    state: 'VALID',
    signed_at: '2026-11-28T09:35:59+00:00',
    problems: ['signingCredential.untrusted'],
    not_checked: ['time stamp not checked'],
  })
  expect((await user.rest('GET', `assets/${id}/c2pa/`)).status).toBe(200)
})
