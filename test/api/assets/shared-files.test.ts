/** Files that belong to several assets: registered again after a deletion, or used as a thumbnail twice. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const first = await app.newUser({ num: '100' })
const second = await app.newUser({ num: '100' })
type Person = typeof first

const fileOf = (bytes: string, name: string, type = 'text/plain') => new File([bytes], name, { type })
const pathOf = (link: string) => new URL(link).pathname + new URL(link).search

async function registerWithThumbnail(person: Person, cid: string, fields: Record<string, string | File> = {}) {
  const asset = await person.register({ asset_file: fileOf(randomUUID(), 'secret name.txt'), ...fields })
  await app.sql(
    `with updated as (update assets set thumbnail_cid = $2 where id = $1::uuid returning id)
     insert into pins (cid, asset_id, kind) select $2, id, 'THUMBNAIL' from updated`,
    [asset.uuid, cid],
  )
  return expectOk(await person.rest('GET', `assets/${asset.id}/`))
}

describe('signed URLs of private files', () => {
  it('the signed URL of a file becomes invalid with the deletion of its asset, even if the file is registered again', async () => {
    const bytes = randomUUID()
    const old = await first.register({ asset_file: fileOf(bytes, 'mine.txt') })
    expect((await app.rest('GET', pathOf(old.asset_file))).text).toBe(bytes)
    expect((await first.rest('DELETE', `assets/${old.id}/`)).status).toBe(204)
    const anew = await second.register({ asset_file: fileOf(bytes, 'theirs.txt') })
    expect(anew.id).toBe(old.id)
    for (const reader of [app, first]) expectError(await reader.rest('GET', pathOf(old.asset_file)), 'NOT_FOUND')
    expect((await app.rest('GET', pathOf(anew.asset_file))).headers.get('content-disposition')).toContain('theirs.txt')
    const forged = new URL(anew.asset_file)
    forged.searchParams.set('signature', new URL(old.asset_file).searchParams.get('signature')!)
    expectError(await app.rest('GET', pathOf(forged.href)), 'NOT_FOUND')
  })

  it('the signed URL of a file is invalid while the account of the owner is locked', async () => {
    const person = await app.newUser()
    const { asset_file: link } = await person.register()
    const lock = (on: boolean) =>
      admin.graphql(
        on
          ? 'mutation ($input: LockUserInput!) { lockUser(input: $input) { user { id } } }'
          : 'mutation ($input: UnlockUserInput!) { unlockUser(input: $input) { user { id } } }',
        { input: { userId: person.publicId, reason: 'Stolen.' } },
      )
    expectOk(await lock(true))
    expectError(await app.rest('GET', pathOf(link)), 'NOT_FOUND')
    expectOk(await lock(false))
    expect((await app.rest('GET', pathOf(link))).status).toBe(200)
  })
})

describe('thumbnails shared by two assets', () => {
  it('a thumbnail shared by two assets does not reveal the file name of either asset', async () => {
    const { id: cid } = await first.register({ asset_file: fileOf(randomUUID(), 'picture.webp', 'image/webp') })
    await registerWithThumbnail(second, cid)
    const answer = await app.rest('GET', pathOf((await registerWithThumbnail(first, cid)).asset_file_thumbnail))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp'])
    expect(answer.headers.get('content-disposition')).toMatch(`filename="${cid}.webp"`)
    expect(answer.headers.get('cache-control')).toMatch(/^private/)
  })

  it('serves a shared thumbnail as WebP even if a user registered the same bytes as another type', async () => {
    const evil = { asset_file: fileOf(randomUUID(), 'Invoice.exe', 'application/x-msdownload'), public_access: 'true' }
    const { id: cid } = await first.register(evil)
    const hidden = await registerWithThumbnail(second, cid)
    const shown = await registerWithThumbnail(second, cid, { public_access: 'true' })
    expect(new URL(hidden.asset_file_thumbnail).searchParams.get('asset')).toBe(hidden.uuid)
    for (const [path, sharing] of [
      [pathOf(hidden.asset_file_thumbnail), 'private'],
      [pathOf(shown.asset_file_thumbnail), 'public'],
    ] as const) {
      const { headers } = await app.rest('GET', path)
      expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
        'image/webp',
        `${sharing}, max-age=300, must-revalidate`,
      ])
      expect(headers.get('content-disposition')).toMatch(/^inline; filename="baf\w+\.webp"/)
    }
  })
})
