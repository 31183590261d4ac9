/**
 * Everything a person can write down is written down, each under a text that stands nowhere else; then the account, or one
 * asset, is deleted, and the whole database is searched for these texts.
 */
import { describe, expect, it } from 'vitest'
import { createLink } from '../../../src/modules/assets/asset-links.ts'
import { until } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { waiting } from '../../support/held-rows.ts'
import { sampleMetadata } from '../../support/metadata.ts'
import { createRest, type Rest } from '../../support/rest-client.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({ withChain: true })
const store = await createStore(app)

const createMarks = (subject: string) => {
  const marks = new Map<string, string>()
  return {
    of(field: string) {
      const mark = `${subject}${marks.size}zqx`
      marks.set(field, mark)
      return mark
    },
    async found(): Promise<string[]> {
      const tables = await app.sql<{ name: string }>(
        `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
         where table_type = 'BASE TABLE' and table_schema in ('public', 'jobs') and table_name <> 'chain_transactions'`,
      )
      const texts = await Promise.all(
        tables.map(({ name }) => app.sql<{ row: string }>(`select t::text as row from ${name} t`)),
      )
      const everything = texts.flatMap((rows) => rows.map(({ row }) => row.toLowerCase())).join('\n')
      const stands = (mark: string) =>
        everything.includes(mark) || everything.includes(Buffer.from(mark).toString('hex'))
      return [...marks].filter(([, mark]) => stands(mark)).map(([field]) => field)
    },
  }
}
type Marks = ReturnType<typeof createMarks>

const registerMarked = async (rest: Rest, marks: Marks): Promise<string> => {
  const file = new File([marks.of('bytes')], `${marks.of('file name')}.txt`, { type: `text/${marks.of('media type')}` })
  const fields = {
    asset_file: file,
    ...sampleMetadata(marks.of),
    nit_commit_custom: JSON.stringify({ [marks.of('custom key')]: marks.of('custom value') }),
    commit_message: marks.of('commit message'),
  }
  const { id } = expectOk(await rest('POST', 'assets/', { multipart: fields }))
  const changes = { caption: marks.of('second caption'), commit_message: marks.of('second commit message') }
  expectOk(await rest('PATCH', `assets/${id}/`, { json: changes }))
  return id
}

const unsettled = () => app.sql(`select from commit_relays where status <> 'FINAL'`)
const settled = () => until('all commits are final', async () => (await unsettled()).length === 0)

describe('erasure from the database', () => {
  it('the database contains no erased values after an asset is deleted', async () => {
    const user = await app.newUser()
    const marks = createMarks('asset')
    const id = await registerMarked(user.rest, marks)
    await settled()
    expect(await marks.found()).not.toEqual([])
    expect((await user.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    // The media type is not personal data.
    expect(await marks.found()).toEqual(['media type'])
  })

  it('the database contains no erased values after an asset is deleted during the creation of a share link', async () => {
    const user = await app.newUser()
    const marks = createMarks('link')
    const { id: nid } = await user.register()
    await settled()
    const [asset] = await app.sql<{ id: string }>('select id::text from assets where nid = $1', [nid])
    const link = { asset: asset!.id, label: marks.of('label'), expiresAt: new Date(Date.now() + 3_600_000) }
    const { deleted } = await app.installation.database.transaction(async (query) => {
      await query(createLink, { ...link, scope: null, payloadHash: null })
      const deleted = user.rest('DELETE', `assets/${nid}/`)
      await waiting(app, 1)
      return { deleted }
    })
    expect((await deleted).status).toBe(204)
    await app.maintenance.run()
    expect(await marks.found()).toEqual([])
  })

  it('the database contains no erased values after an account is deleted', async () => {
    const marks = createMarks('user')
    const account = {
      username: marks.of('username'),
      email: `${marks.of('email')}@example.org`,
      referral_code: marks.of('referral code'),
    }
    const signUp = await app.rest('POST', 'auth/users/', { json: { ...account, password: PASSWORD } })
    expectOk(signUp)
    const login = { email: account.email, password: PASSWORD }
    const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', { json: login }))
    const rest = createRest(app.url, { actor: { token } })
    const profile = { display_name: marks.of('display name'), description: marks.of('description') }
    expectOk(await rest('PATCH', 'auth/users/profile/', { json: profile }))
    expectOk(await rest('PATCH', 'auth/users/me/', { json: { default_tag: marks.of('default tag') } }))
    await registerMarked(rest, marks)
    const order = { network_app: store.appId, action_args: { [marks.of('argument')]: marks.of('argument value') } }
    const headers = { ...store.service, 'Idempotency-Key': marks.of('idempotency key') }
    expectOk(await rest('POST', 'store/network-app-orders/', { json: order, headers }))
    await settled()

    expect((await rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect(await marks.found()).toEqual(['media type'])
  })
})
