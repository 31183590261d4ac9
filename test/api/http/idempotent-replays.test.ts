/** The owners of idempotency keys, and replays of responses with an expired secret. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const admin = await app.admin()
const newKey = () => ({ 'Idempotency-Key': randomUUID() })
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')

async function forgetKeys() {
  await app.sql(`update idempotency_keys set created_at = created_at - interval '8 days'`)
  await app.maintenance.run()
}

describe('idempotency keys', () => {
  it('an idempotency key survives the deletion of another account that had registered the same file', async () => {
    const [leaver, keeper] = [await app.newUser(), await app.newUser()]
    const file = newFile()
    const { id } = await leaver.register({ asset_file: file })
    expect((await leaver.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    await keeper.register({ asset_file: file })
    const request = { json: { caption: 'Paid once' }, headers: newKey() }
    const first = await keeper.rest('PATCH', `assets/${id}/`, request)
    expect((await leaver.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expectOk(await keeper.rest('PATCH', `assets/${id}/`, { json: { caption: 'Later' } }))
    const again = await keeper.rest('PATCH', `assets/${id}/`, request)
    expect([again.status, again.text, replayed(again)]).toEqual([200, first.text, 'true'])
    expect(await app.wallet(keeper)).toEqual({ num: '0', points: '11.463' })
  })

  it('an idempotency key never replays the asset of another user who registered the file later', async () => {
    const [leaver, keeper] = [await app.newUser(), await app.newUser()]
    const file = newFile()
    const asking = (field: string, input = 'id: $id', shown = 'asset { id }') => {
      const headers = newKey()
      const document = `mutation ($id: ID!) { ${field}(input: { ${input} }) { ${shown} } }`
      return (given: object) => leaver.graphql(document, given, { headers })
    }
    const registrationKey = newKey()
    const register = () => {
      const document = 'mutation ($file: Upload!) { registerAsset(input: { assetFile: $file }) { asset { id } } }'
      return leaver.graphql(document, { file }, { headers: registrationKey })
    }
    const { id } = expectOk(await register()).registerAsset.asset
    const made = await asking('createAssetLink', undefined, 'link { id }')({ id })
    const { id: link } = expectOk(made).createAssetLink.link
    const update = asking('updateAssetMetadata', 'id: $id, caption: "Mine"')
    const revert = asking('revertAsset', 'id: $id, revertTo: "2100-01-01T00:00:00Z"')
    const endLink = asking('revokeAssetLink', undefined, 'link { id }')
    const endLinks = asking('revokeAssetLinks')
    const requests = [
      register,
      () => update({ id }),
      () => revert({ id }),
      () => endLink({ id: link }),
      () => endLinks({ id }),
    ]
    for (const request of requests) expectOk(await request())
    expect((await leaver.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    for (const request of requests) expectError(await request(), 'IDEMPOTENCY_KEY_REUSED')
    await keeper.register({ asset_file: file, public_access: 'true' })
    for (const request of requests) expectError(await request(), 'IDEMPOTENCY_KEY_REUSED')
    const otherDoor = { multipart: { asset_file: file }, headers: registrationKey }
    expectError(await leaver.rest('POST', 'assets/', otherDoor), 'IDEMPOTENCY_KEY_REUSED')
  })

  it('the idempotency key of a signed-in user replays a sign-up after the new account is deleted', async () => {
    const user = await app.newUser()
    const headers = newKey()
    const input = { username: 'newcomer', email: 'newcomer@example.org', password: PASSWORD }
    const document = 'mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } email } }'
    const signUp = async () => expectOk(await user.graphql(document, { input }, { headers })).signUp
    const first = await signUp()
    const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', { json: input }))
    expect((await app.rest('DELETE', 'auth/users/me/', { actor: { token } })).status).toBe(204)
    expect(await signUp()).toEqual(first)
    expect(expectOk(await user.rest('POST', 'auth/users/', { json: input, headers })).id).toBe(first.user.id)
  })

  it('an idempotency key is deleted with the account of its sender', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Mine' }, headers: newKey() }))
    const json = { name: 'Mine', price_mode: 'fixed', price: '1' }
    const owner = await app.admin()
    const made = expectOk(await admin.rest('POST', 'store/network-apps/', { json }))
    expectOk(await owner.rest('PATCH', `store/network-apps/${made.id}/`, { json: { price: '2' }, headers: newKey() }))
    const kept = () => app.sql('select result from idempotency_keys')
    const before = (await kept()).length
    expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect((await owner.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect(await kept()).toHaveLength(before - 2)
  })

  it('an anonymous idempotency key belongs to one payload, even if another caller chooses the same key', async () => {
    const headers = { 'Idempotency-Key': '1' }
    const accounts = ['stranger', 'another'].map((username) => ({
      username,
      email: `${username}@example.org`,
      password: PASSWORD,
    }))
    for (const json of accounts) {
      const answers = [
        await app.rest('POST', 'auth/users/', { json, headers }),
        await app.rest('POST', 'auth/users/', { json, headers }),
      ]
      expect(answers.map((answer) => [expectOk(answer).username, replayed(answer)])).toEqual([
        [json.username, null],
        [json.username, 'true'],
      ])
    }
    const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
    const tokens = await Promise.all(
      accounts.map(async ({ email, password }) =>
        expectOk(await app.graphql(signIn, { input: { email, password } }, { headers })),
      ),
    )
    expect(tokens[0].signIn.token).not.toBe(tokens[1].signIn.token)
  })
})

describe('retries of a sign-in', () => {
  const login = (email: string, headers: Record<string, string>, password = PASSWORD) =>
    app.rest('POST', 'auth/token/login/', { json: { email, password }, headers })
  const me = (token: string) => app.rest('GET', 'auth/users/me/', { actor: { token } })

  it('both APIs reject a retry of a sign-in after its session ended', async () => {
    const { email } = await app.newUser()
    const headers = newKey()
    const token = expectOk(await login(email, headers)).auth_token
    expect(expectOk(await login(email, headers)).auth_token).toBe(token)
    expect((await app.rest('POST', 'auth/token/logout/', { actor: { token } })).status).toBe(204)
    expectError(await login(email, headers), 'IDEMPOTENCY_KEY_REUSED')
    expectOk(await me(expectOk(await login(email, newKey())).auth_token))
    expectError(await me(token), 'AUTHENTICATION_FAILED')
    const document = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
    const again = { headers: newKey() }
    const signIn = () => app.graphql(document, { input: { email, password: PASSWORD } }, again)
    const actor = expectOk(await signIn()).signIn
    expect(expectOk(await signIn()).signIn.token).toBe(actor.token)
    expectOk(await app.graphql('mutation { signOut }', {}, { actor }))
    expectError(await signIn(), 'IDEMPOTENCY_KEY_REUSED')
  })

  it('a retry of a sign-in never reactivates a stolen token, even after the key expires', async () => {
    const user = await app.newUser()
    const headers = newKey()
    const stolen = expectOk(await login(user.email, headers)).auth_token
    const passwords = { current_password: PASSWORD, new_password: 'another horse battery' }
    expect((await user.rest('POST', 'auth/users/set_password/', { json: passwords })).status).toBe(204)
    expectError(await login(user.email, headers, passwords.new_password), 'IDEMPOTENCY_KEY_REUSED')
    await forgetKeys()
    const token = expectOk(await login(user.email, headers, passwords.new_password)).auth_token
    expect(token).not.toBe(stolen)
    expectOk(await me(token))
    expectError(await me(stolen), 'AUTHENTICATION_FAILED')
  })

  it('eight concurrent retries of a sign-in return one valid token', async () => {
    const { email } = await app.newUser()
    const headers = newKey()
    const answers = await Promise.all(Array.from({ length: 8 }, () => login(email, headers)))
    const tokens = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.auth_token))
    expect(tokens.size).toBe(1)
    for (const token of tokens) expectOk(await me(token))
  })
})

describe('retries whose response contains a secret', () => {
  it('rejects a retried creation of a revoked API key, and creates a new key after the idempotency key expires', async () => {
    const request = { json: { name: 'Service' }, headers: newKey() }
    const issue = () => admin.rest('POST', 'store/api-keys/', request)
    const first = expectOk(await issue())
    expect(expectOk(await issue()).key).toBe(first.key)
    expect((await admin.rest('DELETE', `store/api-keys/${first.id}/`)).status).toBe(204)
    expectError(await issue(), 'IDEMPOTENCY_KEY_REUSED')
    await forgetKeys()
    expect(expectOk(await issue()).key).not.toBe(first.key)
  })

  it('rejects a retry that would return an expired webhook secret, until the idempotency key expires', async () => {
    const json = { name: 'Rotating', price_mode: 'fixed', price: '1', webhook_url: 'https://apps.example.org/hook' }
    const creation = { json, headers: newKey() }
    const create = () => admin.rest('POST', 'store/network-apps/', creation)
    const app1 = expectOk(await create())
    expect(expectOk(await create()).webhook_secret).toBe(app1.webhook_secret)
    const headers = newKey()
    const rotate = (key = newKey()) =>
      admin.rest('POST', `store/network-apps/${app1.id}/rotate-secret/`, { headers: key })
    const second = expectOk(await rotate(headers)).webhook_secret
    expect(expectOk(await rotate(headers)).webhook_secret).toBe(second)
    // The previous secret still signs for a day.
    expect(expectOk(await create()).webhook_secret).toBe(app1.webhook_secret)
    expectOk(await rotate())
    expectError(await create(), 'IDEMPOTENCY_KEY_REUSED')
    expectOk(await rotate())
    expectError(await rotate(headers), 'IDEMPOTENCY_KEY_REUSED')
    await forgetKeys()
    expect(expectOk(await rotate(headers)).webhook_secret).not.toBe(second)
  })
})
