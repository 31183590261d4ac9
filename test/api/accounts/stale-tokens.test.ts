/** Invalid access tokens: they are rejected everywhere except for signing in. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { hasOpenField } from '../../../src/graphql/builder.ts'
import { readEvents } from '../../support/event-stream.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { routes, schema } from '../../support/full-api.ts'
import { directRoutes } from '../../support/route-tables.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const actor = { token: 'a'.repeat(40) }
const json = (fields: object) => ({ actor, json: fields })

it('only the listed operations and routes ignore an invalid access token', () => {
  const fields = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!].flatMap((root) =>
    Object.values(root.getFields())
      .filter(({ extensions }) => extensions.openToStaleTokens === true)
      .map(({ name }) => `${root.name}.${name}`),
  )
  expect(fields.toSorted()).toEqual([
    'Mutation.requestEmailVerification',
    'Mutation.requestPasswordReset',
    'Mutation.resetPassword',
    'Mutation.signIn',
    'Mutation.signUp',
    'Mutation.verifyEmail',
    'Query.pricing',
  ])
  const open = routes
    .filter(({ operation }) => hasOpenField(schema, operation))
    .map(({ method, path }) => `${method} ${path}`)
  expect(open.toSorted()).toEqual([
    'POST auth/token/login',
    'POST auth/users',
    'POST auth/users/activation',
    'POST auth/users/resend_activation',
    'POST auth/users/reset_password',
    'POST auth/users/reset_password_confirm',
  ])
})

it('sign-up, sign-in, password reset and pricing work despite an invalid access token', async () => {
  const newcomer = () => {
    const username = `n${randomUUID().slice(0, 12)}`
    return { username, email: `${username}@example.org`, password: PASSWORD }
  }
  const [one, other] = [newcomer(), newcomer()]
  expect((await app.rest('POST', 'auth/users/', json(one))).status).toBe(201)
  expectOk(await app.rest('POST', 'auth/token/login/', json(one)))
  expect((await app.rest('POST', 'auth/users/reset_password/', json({ email: one.email }))).status).toBe(201)
  const link = { uid: 'user_01h455vb4pex5vsknk084sn02q', token: 'x', new_password: PASSWORD }
  expectError(await app.rest('POST', 'auth/users/reset_password_confirm/', json(link)), 'INVALID_TOKEN')
  const mutate = (field: string, type: string, input: object) =>
    app.graphql(`mutation ($input: ${type}!) { done: ${field}(input: $input) { __typename } }`, { input }, { actor })
  expectOk(await mutate('signUp', 'SignUpInput', other))
  expectOk(await mutate('signIn', 'SignInInput', { email: other.email, password: PASSWORD }))
  expectOk(await mutate('requestPasswordReset', 'RequestPasswordResetInput', { email: other.email }))
  const reset = { uid: link.uid, token: 'x', newPassword: PASSWORD }
  expectError(await mutate('resetPassword', 'ResetPasswordInput', reset), 'INVALID_TOKEN')
  expectOk(await app.graphql('{ pricing { total } }', {}, { actor }))
  expectOk(
    await app.graphql('query { ...Prices } fragment Prices on Query { pricing { total } __typename }', {}, { actor }),
  )
})

it('health probes, API documents and constants ignore an invalid access token', async () => {
  const paths = directRoutes.filter(({ ignoresCredentials }) => ignoresCredentials).map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['/healthz', '/readyz', '/schema.graphql', '/api/v3/app-info']))
  for (const path of paths) {
    const { status, text } = await app.rest('GET', path, { actor })
    expect({ path, status, text }).toEqual({ path, status: 200, text: (await app.rest('GET', path)).text })
  }
  expectError(await app.rest('GET', 'contacts/', { actor }), 'AUTHENTICATION_FAILED')
})

it('all other operations reject an invalid access token, even if they need no token', async () => {
  const user = await app.newUser()
  const { id } = await user.register({ public_access: 'true' })
  for (const path of [`assets/${id}/`, 'assets/', 'auth/users/me/', 'events/stream', `/ipfs/${id}`]) {
    const answer = expectError(await app.rest('GET', path, { actor }), 'AUTHENTICATION_FAILED')
    expect(answer.headers.get('www-authenticate')).toBe('Token')
    expect(answer.body.error.message).toBe('Incorrect authentication credentials.')
  }
  for (const document of [
    `{ asset(id: "${id}") { id } }`,
    '{ __typename }',
    '{ __schema { queryType { name } } }',
    'mutation { signOut }',
  ]) {
    const answer = await app.graphql(document, {}, { actor })
    expectError(answer, 'AUTHENTICATION_FAILED')
    expect(answer.body.data ?? null).toBeNull()
  }
  const body = { query: `subscription { commitUpdated(nid: "${id}") { id } }` }
  const reader = await readEvents(`${app.url}/graphql`, { actor, body })
  await reader.ended
  expect(reader.events[0]!.data.errors[0].extensions.code).toBe('AUTHENTICATION_FAILED')
})

it('the other fields of a GraphQL document reject an invalid access token', async () => {
  const user = await app.newUser()
  const { id } = await user.register({ public_access: 'true' })
  const { body } = await app.graphql(`{ pricing { total } node(id: "${user.publicId}") { id } }`, {}, { actor })
  expect(body.data).toEqual({ pricing: { total: expect.any(String) }, node: null })
  expect(body.errors).toMatchObject([{ path: ['node'], extensions: { code: 'AUTHENTICATION_FAILED' } }])
  const mixed = await app.graphql(`{ pricing { total } asset(id: "${id}") { id } }`, {}, { actor })
  expectError(mixed, 'AUTHENTICATION_FAILED')
})
