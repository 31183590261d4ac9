import { afterAll, expect, it } from 'vitest'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formType, partHead } from '../../support/form-parts.ts'
import { type OpenRequest, openRequest } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const BODY = 960_000
const MOST = 64_000_000
const COUNT = Math.ceil(MOST / BODY) + 3
const app = await createTestApp()
const user = await app.newUser()
const requests: OpenRequest[] = []

afterAll(() => {
  for (const request of requests) request.abort()
})

const json = { 'Content-Type': 'application/json' }
const targets: { url: string; headers: Record<string, string>; head: string }[] = [
  { url: `${app.url}/api/v3/auth/users/`, headers: { 'Content-Type': formType }, head: partHead('username') },
  { url: `${app.url}/graphql`, headers: json, head: '{"query":"' },
  {
    url: `${app.url}/graphql`,
    headers: { 'Content-Type': formType, 'GraphQL-Require-Preflight': 'true' },
    head: partHead('operations'),
  },
]

it('rejects the largest and oldest incomplete bodies when all bodies use too much memory together', async () => {
  const small = openRequest(`${app.url}/api/v3/auth/users/me/`, { method: 'PATCH', token: user.token, headers: json })
  requests.push(small)
  small.write('{"first_name":')
  const answers: Awaited<OpenRequest['answer']>[] = []
  for (let i = 0; i < COUNT; i++) {
    const { url, headers, head } = targets[i % targets.length]!
    const request = openRequest(url, { headers })
    requests.push(request)
    request.answer.then((answer) => answers.push(answer)).catch(() => {})
    request.write(head)
    request.write('x'.repeat(BODY))
  }
  await poll(() => answers.length).until((count) => count >= COUNT - Math.floor(MOST / BODY))
  for (const answer of answers) {
    expectError(answer, 'UNAVAILABLE')
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '5'])
  }
  small.write('"Ada"}')
  small.end()
  expectOk(await small.answer)
  expectOk(await user.graphql('{ me { id } }'))
  expect(answers.length).toBeLessThan(10)
})
