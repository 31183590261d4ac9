import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const newKey = () => ({ 'Idempotency-Key': randomUUID() })
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')

describe('idempotency keys', () => {
  it('an idempotency key replays the response of a PATCH with one commit and one charge', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = newKey()
    const patch = () => user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Once' }, headers })
    const first = await patch()
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Later' } }))
    const again = await patch()
    expect([first, again].map(({ status, text }) => ({ status, text }))).toEqual([
      { status: 200, text: first.text },
      { status: 200, text: first.text },
    ])
    expect([replayed(first), replayed(again)]).toEqual([null, 'true'])
    expect(await app.commitCount(id)).toBe(3)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.463' })
  })

  it('an idempotency key replays a registration after the wallet becomes empty', async () => {
    const user = await app.newUser({ points: '0.179' })
    const options = { multipart: { asset_file: newFile() }, headers: newKey() }
    expect((await user.rest('POST', 'assets/', options)).status).toBe(201)
    expect((await user.rest('POST', 'assets/', options)).status).toBe(201)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  })

  it('an idempotency key replays a sign-up and a sign-in with the same account and token', async () => {
    const json = { username: 'twice', email: 'twice@example.org', password: PASSWORD }
    const headers = newKey()
    const signUps = [
      await app.rest('POST', 'auth/users/', { json, headers }),
      await app.rest('POST', 'auth/users/', { json, headers }),
    ]
    expect(signUps.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, signUps[0]!.text]))
    const login = { json: { email: json.email, password: PASSWORD }, headers: newKey() }
    const logins = [
      await app.rest('POST', 'auth/token/login/', login),
      await app.rest('POST', 'auth/token/login/', login),
    ]
    expect(logins.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([200, logins[0]!.text]))
    expectOk(await app.rest('GET', 'auth/users/me/', { actor: { token: logins[1]!.body.auth_token } }))
  })

  it('an idempotency key replays a PATCH after the asset is deleted', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const request = { json: { caption: 'Before the end' }, headers: newKey() }
    const first = await user.rest('PATCH', `assets/${id}/`, request)
    expect(first.status).toBe(200)
    expect((await user.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    const again = await user.rest('PATCH', `assets/${id}/`, request)
    expect([again.status, again.text]).toEqual([200, first.text])
    expectError(await user.rest('GET', `assets/${id}/`), 'NOT_FOUND')
  })

  it('stores 100 MB of responses per hour for free requests, and all responses of paid requests', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ caption: 'As it was' })
    const ask = (caption: string) => {
      const headers = newKey()
      return () => user.rest('PATCH', `assets/${id}/`, { json: { caption }, headers })
    }
    const within = ask('As it was')
    const first = await within()
    const filled = await app.sql(
      `update limits set count = 99999999 where key = 'free-answers:' || replace($1, '-', '') returning key`,
      [user.id],
    )
    expect(filled).toHaveLength(1)
    const beyond = ask('As it was')
    const nothingNew = await beyond()
    const paid = ask('Paid for')
    const changed = await paid()
    expect([first, nothingNew, changed].map(({ status }) => status)).toEqual([200, 200, 200])
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Later' } }))
    const again = [await within(), await beyond(), await paid()]
    expect(again.map(replayed)).toEqual(['true', 'true', 'true'])
    expect([again[0]!.text, again[2]!.text]).toEqual([first.text, changed.text])
    expect(again[1]!.body.caption).toBe('Later')
    expect(await app.commitCount(id)).toBe(3)
  })

  it('an idempotency key stores neither tokens nor passwords', async () => {
    const json = { username: 'secretive', email: 'secretive@example.org', password: PASSWORD }
    expectOk(await app.rest('POST', 'auth/users/', { json, headers: newKey() }))
    const login = { json: { email: json.email, password: PASSWORD }, headers: newKey() }
    const { auth_token } = expectOk(await app.rest('POST', 'auth/token/login/', login))
    const kept = JSON.stringify(await app.sql('select * from idempotency_keys'))
    expect(kept).not.toContain(auth_token)
    expect(kept).not.toContain(PASSWORD)
  })

  it('an idempotency key matches the same payload in another encoding', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = newKey()
    const fields = { caption: 'Same', nit_commit_custom: '{"b":1,"a":2}' }
    const first = await user.rest('PATCH', `assets/${id}/`, { urlencoded: fields, headers })
    const json = { nit_commit_custom: { a: 2, b: 1 }, caption: 'Same' }
    const again = await user.rest('PATCH', `assets/${id}/`, { json, headers })
    expect([again.text, replayed(again)]).toEqual([first.text, 'true'])
  })

  it('an idempotency key belongs to one user', async () => {
    const headers = newKey()
    for (const user of [await app.newUser(), await app.newUser()]) {
      const { id } = await user.register()
      const answer = await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Own' }, headers })
      expect([answer.status, replayed(answer)]).toEqual([200, null])
    }
  })

  it('ten concurrent requests with one idempotency key execute once', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = newKey()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Crowd' }, headers })),
    )
    for (const answer of answers) {
      if (answer.status === 409) expectError(answer, 'IDEMPOTENCY_KEY_IN_USE')
      else expect(expectOk(answer).caption).toBe('Crowd')
    }
    expect(answers.filter((answer) => answer.status === 200 && !replayed(answer))).toHaveLength(1)
    expect(await app.commitCount(id)).toBe(2)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.642' })
  })

  it('an idempotency key can be used again after a rejected request', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = newKey()
    expectError(
      await user.rest('PATCH', `assets/${id}/`, { json: { headline: 'x'.repeat(26) }, headers }),
      'VALIDATION_FAILED',
    )
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { headline: 'Short' }, headers }))
  })

  it.each(['', 'x'.repeat(256)])('rejects the idempotency key %j', async (key) => {
    const user = await app.newUser()
    const answer = await user.rest('POST', 'assets/', {
      multipart: { asset_file: newFile() },
      headers: { 'Idempotency-Key': key },
    })
    expectError(answer, 'VALIDATION_FAILED')
  })

  it('both APIs share idempotency keys', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = newKey()
    const document =
      'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { caption } } }'
    const first = await user.graphql(document, { input: { id, caption: 'Both' } }, { headers })
    expect(expectOk(first).updateAssetMetadata.asset.caption).toBe('Both')
    const again = await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Both' }, headers })
    expect([expectOk(again).caption, replayed(again)]).toEqual(['Both', 'true'])
    const third = await user.graphql(document, { input: { id, caption: 'Both' } }, { headers })
    expect([expectOk(third).updateAssetMetadata.asset.caption, replayed(third)]).toEqual(['Both', 'true'])
    expect(await app.commitCount(id)).toBe(2)
  })
})
