import { describe, expect, it } from 'vitest'
import { description } from '../../support/described.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const asset = await user.register({ public_access: 'true' })

describe('a path', () => {
  const nid = asset.id
  it.each([
    ['GET', '/api/v3/auth/users/me'],
    ['GET', '/api/v3/auth/users'],
    ['GET', '/auth/users/me'],
    ['GET', '/auth/users'],
    ['GET', '/api/v3/assets'],
    ['GET', `/api/v3/assets/${nid}`],
    ['GET', `/api/v3/assets/${nid}/history`],
    ['GET', '/api/v3/history'],
  ])('%s %s answers with and without its trailing slash, without a redirect', async (method, path) => {
    const query = path.endsWith('history') ? `?nid=${nid}` : ''
    const answers = await Promise.all([path, `${path}/`].map((each) => user.rest(method, each + query)))
    for (const answer of answers) expectOk(answer)
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers[1]!.body).toEqual(answers[0]!.body)
  })

  it('of the auth family answers without the prefix, and others do not', async () => {
    const credentials = { email: user.email, password: 'correct horse battery' }
    const login = expectOk(await app.rest('POST', '/auth/token/login/', { json: credentials }))
    const actor = { token: login.auth_token }
    expect((await app.rest('GET', '/auth/users/me/', { actor })).body.id).toBe(user.publicId)
    expect((await app.rest('POST', '/auth/token/logout', { actor })).status).toBe(204)
    expectError(await app.rest('GET', '/auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
    expectError(await user.rest('GET', '/assets/'), 'NOT_FOUND')
  })

  it('that nobody knows is a 404 in the error body', async () => {
    expectError(await app.rest('GET', 'nothing/here/'), 'NOT_FOUND')
    expectError(await app.rest('GET', '/api/v2/assets/'), 'NOT_FOUND')
  })

  it('with a broken percent escape is refused in the error body', async () => {
    const { status, body } = await app.rest('GET', 'assets/%E0%A4%A/')
    expect([400, 404]).toContain(status)
    expect(body.error.type).toMatch(/^(parse_error|resource_not_found)$/)
  })
})

describe('a method', () => {
  it.each([
    ['PUT', `assets/${asset.id}/`, 'GET, PATCH, DELETE, HEAD, OPTIONS'],
    ['DELETE', 'assets/', 'GET, POST, HEAD, OPTIONS'],
    ['GET', 'auth/token/login/', 'POST, OPTIONS'],
    ['PATCH', 'auth/token/logout/', 'POST, OPTIONS'],
  ])('%s on %s is a 405 that says what is allowed', async (method, path, allow) => {
    const answer = expectError(await user.rest(method, path), 'METHOD_NOT_ALLOWED')
    const sorted = (list: string | null) => (list ?? '').split(', ').sort()
    expect(sorted(answer.headers.get('allow'))).toEqual(sorted(allow))
  })

  it('is allowed at an address where the description has it, and nowhere else', async () => {
    const answers = Object.entries(description.paths).map(async ([path, item]) => {
      const { headers } = await app.rest('OPTIONS', path.replaceAll(/\{\w+\}/g, 'any'))
      const methods = headers
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

  it('of another address is none of one that is written out', async () => {
    expectError(await user.rest('DELETE', 'auth/sessions/revoke-others/'), 'METHOD_NOT_ALLOWED')
    expectError(await user.rest('GET', 'assets/merge-trees'), 'METHOD_NOT_ALLOWED')
    expectError(await user.rest('DELETE', '/auth/sessions/revoke-others'), 'METHOD_NOT_ALLOWED')
  })

  it('HEAD answers like GET without a body', async () => {
    const [get, head] = await Promise.all([
      app.rest('GET', `assets/${asset.id}/`),
      app.rest('HEAD', `assets/${asset.id}/`),
    ])
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  })
})

describe('a browser', () => {
  const origin = { Origin: 'https://somewhere.example' }

  it('of another origin may send its credentials in headers, and never cookies', async () => {
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

  it('may send what its framework or its tracer puts to every request', async () => {
    const { headers } = await app.rest('OPTIONS', 'assets/', {
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization, sentry-trace, x-client-version, x-csrftoken',
      },
    })
    const allowed = headers.get('access-control-allow-headers')!.toLowerCase().split(/,\s*/)
    // A browser takes `*` for all of them but the first.
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'x-csrftoken', '*']))
  })

  it('reads answers and refusals', async () => {
    const answers = await Promise.all([
      app.rest('GET', 'assets/', { headers: origin }),
      app.rest('GET', 'nothing/', { headers: origin }),
      app.rest('GET', 'auth/users/me/', { headers: origin }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 401])
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})

it('tells every answer apart by its X-Request-Id, refusals too', async () => {
  const answers = await Promise.all([
    app.rest('GET', 'assets/'),
    app.rest('GET', 'auth/users/me/'),
    app.rest('GET', 'assets/', { actor: { token: 'wrong' } }),
  ])
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(ids.every((id) => id)).toBe(true)
  expect(new Set(ids).size).toBe(3)
})
