/** Concurrent creation of copies with Content Credentials of one file. */
import { expect, it } from 'vitest'
import { pinSigned } from '../../../src/modules/content-credentials/signed-copies.ts'
import { waiting } from '../../support/held-rows.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const { database } = app.installation

it('deletes all older signed copies when two processes create copies concurrently', async () => {
  const { id: nid } = await (await app.newUser()).register()
  const [row] = await app.sql<{ id: string }>('select id::text from assets where nid = $1', [nid])
  const asset = row!.id
  const copy = (cid: string) => ({ asset, cid, version: cid })
  const kept = async () =>
    (await app.sql(`select cid from pins where asset_id = $1::uuid and kind = 'C2PA'`, [asset])).map(({ cid }) => cid)
  const { second } = await database.transaction(async (query) => {
    await query(pinSigned, copy('first'))
    const second = database.query(pinSigned, copy('second'))
    await waiting(app, 1)
    return { second }
  })
  expect(await second).toHaveLength(1)
  await database.query(pinSigned, copy('third'))
  expect(await kept()).toEqual(['third'])
})
