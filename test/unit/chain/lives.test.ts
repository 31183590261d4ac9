/** A file that is registered again after a deletion: its commits follow the earlier ones on the chain. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findUnprepared } from '../../../src/chain/relay/commit-signer.ts'
import { startServer, type TestServer, type World } from '../../support/chain/world.ts'

let server: TestServer
let world: World

beforeAll(async () => {
  server = await startServer()
  world = await server.createWorld()
})
afterAll(async () => {
  await world?.close()
  await server?.stop()
})

it('relays the commits of a deleted asset before those of a new registration of the same file, despite clock skew', async () => {
  const first = await world.addAsset(await world.addUser())
  const commit = await world.addCommit(first)
  await world.sql(
    `update assets set uploaded_at = now() + interval '10 minutes', deleted_at = now(), head_commit_id = $2::uuid where id = $1::uuid`,
    [first.id, commit],
  )
  const [again] = await world.sql<{ id: string }>(
    `insert into assets (nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id)
     select nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, id from assets where id = $1::uuid returning id`,
    [first.id],
  )
  await world.addCommit({ ...first, id: again!.id, sequence: 0 })
  const ready = await world.database.query(findUnprepared, { limit: 10 })
  expect(ready.map(({ commit_id }) => commit_id)).toEqual([commit])
})
