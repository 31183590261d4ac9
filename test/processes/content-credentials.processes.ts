import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkFiles, repairFiles } from '../../src/modules/assets/pinned-files.ts'
import { until } from '../support/eventually.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import type { Answer } from '../support/http-client.ts'
import { hashFits, readManifests } from '../support/manifests.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp({ withChain: true })
const user = await app.newUser({ num: '100' })
const other = await app.newUser()
const small = { width: 40, height: 30 }
const custom = {
  digitalSourceType: 'digitalCapture',
  miningPreference: 'notAllowed',
  license: { name: 'CC-BY-4.0', document: 'https://creativecommons.org/licenses/by/4.0/' },
}

const opened = [{ action: 'c2pa.opened' }, { action: 'c2pa.published' }]

const c2pa = (nid: string, reader: { rest: typeof app.rest } = user, options = {}): Promise<Answer> =>
  reader.rest('GET', `assets/${nid}/c2pa/`, options)
const bytesOf = (answer: Answer): Buffer => {
  expect([answer.status, answer.text.slice(0, 200)]).toMatchObject([200, expect.anything()])
  return answer.bytes
}
const pinsOf = (nid: string) =>
  app.sql<{ cid: string }>(
    `select p.cid from pins p join assets a on a.id = p.asset_id where a.nid = $1 and p.kind = 'C2PA'`,
    [nid],
  )
const recorded = async (nid: string) => {
  const waiting = `select 1 from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
    where a.nid = $1 and r.block_number is null`
  await until('the history is on the chain', async () => (await app.sql(waiting, [nid])).length === 0)
  return expectOk(await user.rest('GET', `assets/${nid}/history/`)).commits
}

const shown = await user.register({
  ...{ asset_file: await newPicture(small), public_access: 'true', headline: 'Sunset', caption: 'Over the sea' },
  nit_commit_custom: JSON.stringify(custom),
})

describe('files with Content Credentials', () => {
  it('a file with Content Credentials contains the asset tree and its record, signed with the development certificate', async () => {
    const [commit] = await recorded(shown.id)
    const answer = await c2pa(shown.id, app)
    const file = bytesOf(answer)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...{ 'content-type': 'image/jpeg', 'accept-ranges': 'bytes', 'cache-control': 'public, no-cache' },
      'content-length': String(file.length),
    })
    const { manifest, assertions, state } = await readManifests(file, 'image/jpeg')
    const signature_info = { alg: 'Es256', issuer: 'Annal (development, not to be trusted)' }
    expect({ ...manifest, state }).toMatchObject({ state: 'Valid', title: 'Sunset', signature_info })
    expect(assertions['c2pa.actions.v2'].actions).toEqual([
      { action: 'c2pa.created', digitalSourceType: 'http://cv.iptc.org/newscodes/digitalsourcetype/digitalCapture' },
      { action: 'c2pa.published' },
    ])
    expect(assertions['cawg.metadata']).toMatchObject({
      ...{ 'dc:creator': [user.username], 'dc:title': 'Sunset' },
      ...{ 'dc:description': 'Over the sea', 'dc:rights': 'CC-BY-4.0' },
    })
    expect(assertions['stds.schema-org.CreativeWork'].author).toEqual([
      { '@type': 'Person', name: user.username, identifier: user.address },
    ])
    expect(Object.values(assertions['cawg.training-mining'].entries)).toEqual(Array(4).fill({ use: 'notAllowed' }))
    expect(assertions['org.annal.registration']).toEqual({
      ...{ nid: shown.id, tree: commit.assetTreeCid, treeSha256: commit.assetTreeSha256 },
      ...{ commit: 1, transaction: commit.txHash },
      chainId: expect.stringMatching(/^\d+$/),
      registry: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    })
    expect(hashFits(file)).toBe(true)
    const changed = Buffer.from(file)
    changed[file.length - 10]! ^= 1
    expect((await readManifests(changed, 'image/jpeg')).state).toBe('Invalid')
    const anchors = await readFile(join(app.env.ANNAL_DIR!, 'keys', 'content-credentials-development.pem'), 'utf8')
    const root = anchors.slice(anchors.lastIndexOf('-----BEGIN CERTIFICATE'))
    expect((await readManifests(file, 'image/jpeg', root)).state).toBe('Trusted')
  })

  it('a file with Content Credentials is created once, can be read in ranges, and is replaced after a commit', async () => {
    const write = vi.spyOn(app.context.contentCredentials, 'write')
    onTestFinished(() => write.mockRestore())
    const [first, second] = await Promise.all([c2pa(shown.id), c2pa(shown.id, other)])
    expect(first.bytes.equals(second.bytes)).toBe(true)
    expect(write).not.toHaveBeenCalled()
    const etag = first.headers.get('etag')!
    expect((await c2pa(shown.id, other, { headers: { 'If-None-Match': etag } })).status).toBe(304)
    const part = await c2pa(shown.id, other, { headers: { Range: 'bytes=2-9', 'If-Range': etag } })
    expect([part.status, part.bytes.equals(first.bytes.subarray(2, 10))]).toEqual([206, true])
    const head = await app.rest('HEAD', `assets/${shown.id}/c2pa/`)
    expect(head).toMatchObject({ status: 200, bytes: { length: 0 } })
    expect(head.headers.get('content-length')).toBe(String(first.bytes.length))
    expect((await fetch(`${app.url}/ipfs/${etag.replaceAll('"', '')}`)).headers.get('content-type')).toBe('image/jpeg')
    expectOk(await user.rest('PATCH', `assets/${shown.id}/`, { json: { headline: 'Sunrise' } }))
    await recorded(shown.id)
    const anew = await Promise.all([c2pa(shown.id), c2pa(shown.id)])
    expect(write).toHaveBeenCalledOnce()
    expect(anew[0].headers.get('etag')).toBe(anew[1].headers.get('etag'))
    const { manifest, assertions } = await readManifests(bytesOf(anew[0]), 'image/jpeg')
    expect([manifest.title, assertions['org.annal.registration'].commit]).toEqual(['Sunrise', 2])
    expect(await pinsOf(shown.id)).toEqual([{ cid: anew[0].headers.get('etag')!.replaceAll('"', '') }])
  })

  it("a file with Content Credentials is as private as the original file, and follows the owner's setting", async () => {
    const hidden = await user.register({ asset_file: await newPicture({ ...small, format: 'png' }) })
    const file = bytesOf(await c2pa(hidden.id))
    expect((await readManifests(file, 'image/png')).assertions['c2pa.actions.v2'].actions).toMatchObject(opened)
    expect(hashFits(file)).toBe(true)
    const link = new URL(expectOk(await user.rest('GET', `assets/${hidden.id}/`)).asset_file).search
    expect((await app.rest('GET', `assets/${hidden.id}/c2pa/${link}`)).status).toBe(200)
    for (const stranger of [app, other]) {
      expectError(await c2pa(hidden.id, stranger), 'NOT_FOUND')
      const [pin] = await pinsOf(hidden.id)
      expectError(await stranger.rest('GET', `/ipfs/${pin!.cid}`), 'NOT_FOUND')
    }
    expectOk(await user.rest('PATCH', 'auth/users/me/', { json: { allow_c2pa_download: false } }))
    expectError(await c2pa(shown.id, other), 'NOT_FOUND')
    expectError(await app.rest('GET', `assets/${hidden.id}/c2pa/${link}`), 'NOT_FOUND')
    const copy = `/ipfs/${(await pinsOf(shown.id))[0]!.cid}`
    expectError(await other.rest('GET', copy), 'NOT_FOUND')
    expect((await user.rest('GET', copy)).status).toBe(200)
    expect((await c2pa(shown.id)).status).toBe(200)
    expectOk(await user.rest('PATCH', 'auth/users/me/', { json: { allow_c2pa_download: true } }))
    expect((await user.rest('DELETE', `assets/${hidden.id}/`)).status).toBe(204)
    expect(await pinsOf(hidden.id)).toEqual([])
    expectError(await c2pa(hidden.id), 'NOT_FOUND')
  })

  it('an expired link to a file with Content Credentials gives the access of an anonymous caller', async () => {
    const bytes = new Uint8Array(await (await newPicture(small)).arrayBuffer())
    const file = new File([bytes], 'first.jpg', { type: 'image/jpeg' })
    const first = await user.register({ asset_file: file })
    const link = new URL(expectOk(await user.rest('GET', `assets/${first.id}/`)).asset_file).search
    expect((await user.rest('DELETE', `assets/${first.id}/`)).status).toBe(204)
    const anew = await user.register({ asset_file: file, public_access: 'true' })
    expect(anew.id).toBe(first.id)
    expect((await app.rest('GET', `assets/${anew.id}/c2pa/${link}`)).status).toBe(200)
  })

  it('a file with Content Credentials keeps the original manifest as an ingredient', async () => {
    const first = bytesOf(await c2pa(shown.id))
    const file = new File([new Uint8Array(first)], 'again.jpg', { type: 'application/octet-stream' })
    const again = await user.register({ asset_file: file, nit_commit_custom: JSON.stringify(custom) })
    const signed = bytesOf(await c2pa(again.id))
    const { manifest, assertions, state, count } = await readManifests(signed, 'image/jpeg')
    expect({ state, count }).toEqual({ state: 'Valid', count: 2 })
    expect(assertions['c2pa.actions.v2'].actions).toMatchObject(opened)
    expect(manifest.ingredients).toMatchObject([{ relationship: 'parentOf' }])
  })

  it.each(['webp', 'avif'] as const)('creates a file with Content Credentials for %s', async (format) => {
    const asset = await user.register({ asset_file: await newPicture({ ...small, format }) })
    expect((await readManifests(bytesOf(await c2pa(asset.id)), `image/${format}`)).state).toBe('Valid')
  })

  it('rejects Content Credentials for unsupported files, and for broken files after one attempt', async () => {
    const text = await user.register({ asset_file: newFile('notes.txt', 'text/plain') })
    expectError(await c2pa(text.id), 'VALIDATION_FAILED')
    const picture = Buffer.from(await (await newPicture(small)).arrayBuffer())
    const broken = await user.register({
      asset_file: new File([new Uint8Array(picture.subarray(0, 90)), new Uint8Array(80)], 'broken.jpg'),
    })
    const write = vi.spyOn(app.context.contentCredentials, 'write')
    onTestFinished(() => write.mockRestore())
    await recorded(broken.id)
    for (let times = 0; times < 2; times += 1) expectError(await c2pa(broken.id), 'VALIDATION_FAILED')
    expect(write).toHaveBeenCalledOnce()
    expect(await pinsOf(broken.id)).toEqual([])
  })

  it('creates a file with Content Credentials again if the file store lost it', async () => {
    const asset = await user.register({ asset_file: await newPicture(small), public_access: 'true' })
    await recorded(asset.id)
    await c2pa(asset.id)
    const [lost] = await pinsOf(asset.id)
    const { contentStore } = app.installation
    const isWhole = vi.spyOn(contentStore, 'isWhole').mockImplementation(async (cid) => cid !== lost!.cid)
    onTestFinished(() => isWhole.mockRestore())
    expect((await checkFiles(app.installation)).rows).toMatchObject([{ subject: asset.id, kind: 'c2pa' }])
    expect(await repairFiles(app.installation)).toMatchObject({ signed: 1, missing: [] })
    isWhole.mockRestore()
    const answer = await c2pa(asset.id)
    expect([answer.status, answer.headers.get('etag') === `"${lost!.cid}"`]).toEqual([200, false])
  })
})

describe('embedded manifests of uploaded files', () => {
  const signed = async () => Buffer.from(bytesOf(await c2pa(shown.id)))
  /** Returns the manifest report of a file from both APIs after its job ran. */
  async function claims(bytes: Uint8Array, reader = user) {
    const file = new File([new Uint8Array(bytes)], 'sent.jpg', { type: 'image/jpeg' })
    const asset = await user.register({ asset_file: file })
    await app.jobs.manifest({ assetId: asset.uuid })
    const reported = expectOk(await reader.rest('GET', `assets/${asset.id}/content-credentials/`)).content_credentials
    const query = `{ asset(id: "${asset.id}") { contentCredentials { state signer problems manifestCount } } }`
    const { contentCredentials } = expectOk(await reader.graphql(query)).asset
    expect(contentCredentials && Object.values(contentCredentials)).toEqual(
      reported && [reported.state, reported.signer, reported.problems, reported.manifest_count],
    )
    return { asset, reported }
  }
  const waiting = (uuid: string) =>
    app.sql(`select 1 from jobs.job where name = 'manifest' and data ->> 'assetId' = $1`, [uuid])
  /** Returns a copy of the file with one changed bit at this position. */
  const changed = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes)
    copy[at]! ^= 1
    return copy
  }

  it('a job reads the embedded manifest after registration, and reports its signer as untrusted', async () => {
    const { asset, reported } = await claims(Buffer.concat([await signed(), Buffer.from('a tail')]))
    expect(await waiting(asset.uuid)).toHaveLength(1)
    expect(reported).toMatchObject({
      state: 'INVALID',
      problems: expect.arrayContaining(['assertion.dataHash.mismatch']),
    })
    const again = await user.register({ asset_file: await newPicture(small) })
    const own = bytesOf(await c2pa(again.id))
    expect((await claims(own)).reported).toMatchObject({
      ...{ state: 'VALID', trust_list: null, signer: 'Development signer', signed_at: null, manifest_count: 1 },
      ...{ issuer: 'Annal (development, not to be trusted)', generator: expect.stringMatching(/^Annal \d/) },
      ...{ creators: [user.username], actions: ['c2pa.opened', 'c2pa.published'], mining: [] },
      problems: ['signingCredential.untrusted'],
    })
  })

  it('a file without a manifest has no manifest report, and starts no reader process', async () => {
    const read = vi.spyOn(app.context.contentCredentials, 'read')
    onTestFinished(() => read.mockRestore())
    const picture = Buffer.from(await (await newPicture(small)).arrayBuffer())
    expect((await claims(picture)).reported).toBeNull()
    expect(read).not.toHaveBeenCalled()
  })

  it('a broken embedded manifest never prevents a registration', async () => {
    const bytes = await signed()
    const { reported } = await claims(changed(bytes, bytes.indexOf('Sunrise')))
    expect(reported).toMatchObject({ state: 'INVALID', problems: expect.arrayContaining([expect.any(String)]) })
    const cut = Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.from('\xff\xd9', 'latin1')])
    expect((await claims(cut)).reported.state).toMatch(/INVALID|UNREADABLE/)
  })

  it('the manifest of an uploaded file is visible only to callers who can see the asset', async () => {
    const { asset } = await claims(changed(await signed(), 200))
    expectError(await other.rest('GET', `assets/${asset.id}/content-credentials/`), 'NOT_FOUND')
  })
})
