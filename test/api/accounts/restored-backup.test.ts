/** Restores one part of the installation from an older backup than the others. */
import { randomUUID } from 'node:crypto'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NextToLast } from 'blockstore-fs/sharding'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { checkOwners } from '../../../src/keys/check-keys.ts'
import { deleteRestoredAccounts, destroyRestoredKeys } from '../../../src/modules/accounts/delete-account.ts'
import { checkFiles, repairFiles } from '../../../src/modules/assets/pinned-files.ts'
import { requestThumbnails } from '../../../src/modules/assets/thumbnails.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const { vault, custody, config } = app.installation

const counterpartOf = ({ id }: SignedIn) => join(config.dir, 'keys/counterparts', id.slice(-2), id)
const remove = (user: SignedIn) => user.rest('DELETE', 'auth/users/me/')
const me = (user: SignedIn) => user.rest('GET', 'auth/users/me/')
const ownersOf = async () => Object.fromEntries((await checkOwners(app.installation)).map((f) => [f.invariant.id, f]))

describe('deleted accounts in a restored backup', () => {
  it('an account in a restored database is deleted again if the key vault recorded its deletion', async () => {
    const [gone, stays] = [await app.newUser(), await app.newUser()]
    // Combines the newest keys with an older database.
    await vault.markDeleted(gone.id)
    await vault.forget(gone.id)
    expect((await ownersOf()).S2?.rows).toContainEqual(expect.objectContaining({ subject: gone.publicId }))
    expect(await deleteRestoredAccounts(app.context)).toBe(true)
    expectError(await me(gone), 'AUTHENTICATION_FAILED')
    expectOk(await me(stays))
    expect((await ownersOf()).S2?.rows).toEqual([])
    expect(await app.wallet(gone)).toEqual({ num: '0', points: '0' })
  })

  it('a restored deleted account is deleted again only after the relay knows the result of its commits', async () => {
    const gone = await app.newUser()
    await gone.register()
    await vault.markDeleted(gone.id)
    expect(await deleteRestoredAccounts(app.context)).toBe(false)
    expectOk(await me(gone))
    await app.sql(
      `update commit_relays r set status = 'FINAL' from commits c where c.id = r.commit_id and c.author_id = $1::uuid`,
      [gone.id],
    )
    expect(await deleteRestoredAccounts(app.context)).toBe(true)
    expectError(await me(gone), 'AUTHENTICATION_FAILED')
  })

  it('a restored deleted account does not block the deletion of others if its own deletion fails', async () => {
    const others = [await app.newUser(), await app.newUser(), await app.newUser()]
    const stuck = await app.newUser()
    for (const { id } of [stuck, ...others]) await vault.markDeleted(id)
    await app.sql(`create function test_refuse() returns trigger language plpgsql as
      $$ begin raise exception 'for a test'; end $$`)
    await app.sql(`create trigger test_refuse before update on users for each row
      when (old.id = '${stuck.id}') execute function test_refuse()`)
    await expect(deleteRestoredAccounts(app.context)).rejects.toThrow()
    for (const other of others) expectError(await me(other), 'AUTHENTICATION_FAILED')
    await app.sql('drop trigger test_refuse on users')
    expectOk(await me(stuck))
    expect(await deleteRestoredAccounts(app.context)).toBe(true)
    expectError(await me(stuck), 'AUTHENTICATION_FAILED')
  })

  it('the key share of a deleted account is deleted again if an older vault is restored', async () => {
    const user = await app.newUser()
    await copyFile(counterpartOf(user), join(config.dir, 'key share'))
    expect((await remove(user)).status).toBe(204)
    await copyFile(join(config.dir, 'key share'), counterpartOf(user))
    expect((await ownersOf()).S2?.rows).toEqual([
      { subject: user.publicId, problem: expect.stringContaining('key share still exists') },
    ])
    await destroyRestoredKeys(app.context)
    expect((await ownersOf()).S2?.rows).toEqual([])
    await expect(custody.create(user.id)).rejects.toMatchObject({ name: 'LostKeyError', isForGood: true })
  })
})

it('reports and keeps a key share without an account', async () => {
  const owner = randomUUID()
  await custody.create(owner)
  await destroyRestoredKeys(app.context)
  expect((await ownersOf()).S3).toMatchObject({
    isNote: true,
    rows: [{ problem: expect.stringContaining('does not contain this account') }],
  })
  await vault.forget(owner)
})

async function lose(...cids: string[]) {
  expect(await app.sql<{ cid: string }>('select cid from pins where cid = any ($1)', [cids])).toHaveLength(cids.length)
  for (const cid of cids) {
    const { dir, file } = new NextToLast().encode(CID.parse(cid))
    await rm(join(config.dir, 'blocks', dir, file))
  }
}

it('reports a file with missing blocks, and restores the file when any user uploads the same bytes', async () => {
  const [owner, other] = [await app.newUser(), await app.newUser()]
  const file = newFile()
  const asset = expectOk(
    await owner.rest('POST', 'assets/', { multipart: { asset_file: file, public_access: 'true' } }),
  )
  await lose(asset.id)
  expect((await checkFiles(app.installation)).rows).toEqual([{ subject: asset.id, kind: 'file', cid: asset.id }])
  expect((await fetch(asset.asset_file)).status).toBe(404)
  expectError(await other.rest('POST', 'assets/', { multipart: { asset_file: file } }), 'DUPLICATE_ASSET')
  expect((await checkFiles(app.installation)).rows).toEqual([])
  const again = await fetch(asset.asset_file)
  expect(Buffer.from(await again.arrayBuffer())).toEqual(Buffer.from(await file.arrayBuffer()))
  expect(await app.wallet(other)).toEqual({ num: '0', points: '12' })
})

it('a repair restores asset trees from the database, and creates missing thumbnails again', async () => {
  const user = await app.newUser()
  const asset = await user.register({ asset_file: await newPicture() })
  const [row] = await app.sql<{ id: string; tree_cid: string; tree: string }>(
    'select a.id, c.tree_cid, c.tree from assets a join commits c on c.asset_id = a.id where a.nid = $1',
    [asset.id],
  )
  await app.jobs.thumbnail({ assetId: row!.id })
  await app.installation.contentStore.putDocument(Buffer.from(row!.tree))
  await app.sql(`insert into pins (cid, asset_id, kind) values ($1, $2::uuid, 'TREE')`, [row!.tree_cid, row!.id])
  const [thumbnail] = await app.sql<{ cid: string }>(
    `select cid from pins where kind = 'THUMBNAIL' and asset_id = $1::uuid`,
    [row!.id],
  )
  await lose(row!.tree_cid, thumbnail!.cid)
  expect((await checkFiles(app.installation)).rows).toHaveLength(2)
  expect(await repairFiles(app.installation)).toEqual({ trees: 1, thumbnails: 1, signed: 0, missing: [] })
  await requestThumbnails(app.context)
  await app.jobs.thumbnail({ assetId: row!.id })
  expect((await checkFiles(app.installation)).rows).toEqual([])
  await lose(asset.id)
  expect(await repairFiles(app.installation)).toMatchObject({ missing: [{ kind: 'file', cid: asset.id }] })
})
