import { afterEach, describe, expect, it, vi } from 'vitest'
import { unavailable } from '../../../src/shared/errors.ts'
import type { Answer } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { LIMITS: 'requests-per-address=40' } })

const link = 'user_01h455vb4pex5vsknk084sn02q/wrong'
const pages = [
  `/account/password-reset/${link}`,
  `/account/email-verification/${link}`,
  '/',
  '/assets/bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
  '/lookup?file=bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
]
const chinese = { 'Accept-Language': 'zh-HK' }

afterEach(() => {
  vi.restoreAllMocks()
})

function expectPage(answer: Answer, status: number, words: string) {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.text).toContain(words)
  expect(answer.text).not.toContain('"error"')
}

describe.each(pages)('HTML page %s', (path) => {
  it('an HTML page shows an HTML error page for an unsupported method', async () => {
    const answer = await app.rest('PATCH', path)
    expectPage(answer, 405, 'The form could not be read')
    expect(answer.headers.get('allow')).toContain('GET')
    expect((await app.rest('DELETE', path, { headers: chinese })).text).toContain('無法讀取表單')
  })

  it('an HTML page shows an HTML error page if the database is unavailable', async () => {
    vi.spyOn(app.context.requestQuota, 'consume').mockRejectedValue(unavailable('The database'))
    const answer = await app.rest('GET', path)
    expectPage(answer, 503, 'The service is temporarily unavailable')
    expect(answer.headers.get('retry-after')).toBe('5')
    expect((await app.rest('HEAD', path)).text).toBe('')
  })

  it('an HTML page ignores an invalid access token', async () => {
    const actor = { token: 'a'.repeat(40) }
    expect((await app.rest('GET', path, { actor })).status).toBe((await app.rest('GET', path)).status)
  })
})

describe('unknown paths', () => {
  const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  const cutOff = [
    '/account/password-reset/user_01h455vb4pex5vsknk084sn02q',
    '/assets',
    `/assets/${'a'.repeat(3_000)}`,
    '/x',
  ]

  it.each(cutOff)('an unknown path returns an HTML error page to browsers: %s', async (path) => {
    const answer = await app.rest('GET', path, { headers: browser })
    expectPage(answer, 404, 'There is no page at this address')
    expect(answer.text).toContain('open the complete link')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect((await app.rest('GET', path, { headers: { ...browser, ...chinese } })).text).toContain('這個網址沒有頁面')
    expect((await app.rest('HEAD', path, { headers: browser })).text).toBe('')
  })

  it.each([...cutOff, 'assets/x/y/z/'])('an unknown path returns a JSON error to other clients: %s', async (path) => {
    const answer = await app.rest('GET', path)
    expect([answer.status, answer.body.error.type]).toEqual([404, 'resource_not_found'])
  })

  it.each(['assets/x/y/z/', '/auth/x', '/ipfs'])(
    'an unknown API path returns JSON, even to browsers: %s',
    async (path) => {
      const answer = await app.rest('GET', path, { headers: browser })
      expect([answer.status, answer.body.error.type]).toEqual([404, 'resource_not_found'])
    },
  )
})

it('a rate-limited visitor gets an HTML error page with a retry time', async () => {
  for (const [index, path] of pages.entries()) {
    let answer = await app.rest('GET', path)
    for (let n = 0; n < 81 && answer.status !== 429; n += 1) answer = await app.rest('GET', path)
    expectPage(answer, 429, 'Too many attempts')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.text.includes('in your mail')).toBe(index < 2)
  }
})
