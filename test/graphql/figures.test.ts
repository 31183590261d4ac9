/** What administrators are told of days that were out of the ordinary; the ordinary ones stand in `test/processes/figures.processes.ts`. */
import { expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const [admin, owner] = await Promise.all([app.admin(), app.newUser()])

it('figures are told also of a day on which commits became final that had waited for months', async () => {
  const { id } = await owner.register()
  await app.sql('alter table commits disable trigger commits_erase_only')
  const [commit] = await app.sql(
    `update commits c set created_at = now() - interval '60 days' from assets a where a.nid = $1 and c.asset_id = a.id returning c.id::text`,
    [id],
  )
  await app.sql('alter table commits enable trigger commits_erase_only')
  await app.sql(
    `with fed as (
       update wallets set event_sequence = event_sequence + 1 where user_id = $1::uuid returning user_id, event_sequence
     )
     insert into events (owner_id, sequence, type, commit_id)
       select user_id, event_sequence, 'commit.final', $2::uuid from fed`,
    [owner.id, commit!.id],
  )
  const { figures } = expectOk(await admin.graphql('{ figures(days: 2) { days { lagP50 lagP95 } } }'))
  expect(figures.days.at(-1)).toEqual({ lagP50: 2_147_483_647, lagP95: 2_147_483_647 })
})
