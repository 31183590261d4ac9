import { describe, expect, it } from 'vitest'
import { description } from '../../support/described.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const asset = await user.register({ public_access: 'true' })

describe('REST paths', () => {
  it('a REST path works without the prefix /api/v3 only below /auth', async () => {
    const credentials = { email: user.email, password: 'correct horse battery' }
    const actor = { token: expectOk(await app.rest('POST', '/auth/token/login/', { json: credentials })).auth_token }
    expect((await app.rest('GET', '/auth/users/me/', { actor })).body.id).toBe(user.publicId)
    expect((await app.rest('POST', '/auth/token/logout', { actor })).status).toBe(204)
    expectError(await app.rest('GET', '/auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
    expectError(await user.rest('GET', '/assets/'), 'NOT_FOUND')
  })

  it('an unknown REST path returns 404 with the standard error body', async () => {
    expectError(await app.rest('GET', 'nothing/here/'), 'NOT_FOUND')
    expectError(await app.rest('GET', '/api/v2/assets/'), 'NOT_FOUND')
  })

  it('rejects a REST path with an invalid percent escape with the standard error body', async () => {
    const { status, body } = await app.rest('GET', 'assets/%E0%A4%A/')
    expect([400, 404]).toContain(status)
    expect(body.error.type).toMatch(/^(parse_error|resource_not_found)$/)
  })
})

describe('HTTP methods', () => {
  it.each([
    ['PUT', `assets/${asset.id}/`, 'GET, PATCH, DELETE, HEAD, OPTIONS'],
    ['DELETE', 'assets/', 'GET, POST, HEAD, OPTIONS'],
    ['GET', 'auth/token/login/', 'POST, OPTIONS'],
    ['PATCH', 'auth/token/logout/', 'POST, OPTIONS'],
  ])(
    'an HTTP method that is not allowed returns 405 with the allowed methods: %s on %s',
    async (method, path, allow) => {
      const answer = expectError(await user.rest(method, path), 'METHOD_NOT_ALLOWED')
      const sorted = (list: string | null) => (list ?? '').split(', ').sort()
      expect(sorted(answer.headers.get('allow'))).toEqual(sorted(allow))
    },
  )

  it('a REST path allows exactly the HTTP methods in the OpenAPI document', async () => {
    const answers = Object.entries(description.paths).map(async ([path, item]) => {
      const methods = (await app.rest('OPTIONS', path.replaceAll(/\{\w+\}/g, 'any'))).headers
        .get('allow')
        ?.split(', ')
        .filter((method) => !['HEAD', 'OPTIONS'].includes(method))
      return [
        path,
        methods?.sort(),
        Object.keys(item)
          .map((method) => method.toUpperCase())
          .sort(),
      ]
    })
    for (const [path, allowed, described] of await Promise.all(answers))
      expect(allowed, String(path)).toEqual(described)
  })

  it('a fixed REST path does not allow the methods of a matching path with a parameter', async () => {
    expectError(await user.rest('DELETE', 'auth/sessions/revoke-others/'), 'METHOD_NOT_ALLOWED')
    expectError(await user.rest('GET', 'assets/merge-trees'), 'METHOD_NOT_ALLOWED')
    expectError(await user.rest('DELETE', '/auth/sessions/revoke-others'), 'METHOD_NOT_ALLOWED')
  })

  it('HEAD returns the response of GET without a body', async () => {
    const [get, head] = await Promise.all([
      app.rest('GET', `assets/${asset.id}/`),
      app.rest('HEAD', `assets/${asset.id}/`),
    ])
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  })
})

describe('browsers on other origins', () => {
  const origin = { Origin: 'https://somewhere.example' }

  it('a browser on another origin may send credentials in headers, but never cookies', async () => {
    const preflight = await app.rest('OPTIONS', `assets/${asset.id}/`, {
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization, x-api-key',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase().split(/,\s*/)
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'x-api-key', 'content-type', 'idempotency-key']))
    const methods = preflight.headers.get('access-control-allow-methods')!.split(/,\s*/)
    expect(methods).toEqual(expect.arrayContaining(['GET', 'PATCH', 'DELETE']))
  })

  it('a browser on another origin may send the headers that frameworks and tracers add to every request', async () => {
    const { headers } = await app.rest('OPTIONS', 'assets/', {
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization, sentry-trace, x-client-version, x-csrftoken',
      },
    })
    const allowed = headers.get('access-control-allow-headers')!.toLowerCase().split(/,\s*/)
    // In browsers, `*` covers all of these headers except the first.
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'x-csrftoken', '*']))
  })

  it('a browser on another origin can read success and error responses', async () => {
    const answers = await Promise.all([
      app.rest('GET', 'assets/', { headers: origin }),
      app.rest('GET', 'nothing/', { headers: origin }),
      app.rest('GET', 'auth/users/me/', { headers: origin }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401])
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})

it('sends a unique X-Request-Id with every response, including errors', async () => {
  const answers = await Promise.all([
    app.rest('GET', 'assets/'),
    app.rest('GET', 'auth/users/me/'),
    app.rest('GET', 'assets/', { actor: { token: 'wrong' } }),
  ])
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(ids.every((id) => id)).toBe(true)
  expect(new Set(ids).size).toBe(3)
})
