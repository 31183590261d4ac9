/** The file name of an upload (RFC 6266, section 4.3) in both APIs, and in the response that sends the file. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { BOUNDARY, formEnd, formType, registrationByGraphQL } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })

const filePart = (parameters: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${parameters}\r\nContent-Type: text/plain\r\n\r\n${randomBytes(9).toString('hex')}`

const apis = {
  async REST(parameters: string): Promise<string> {
    const raw = `${filePart(parameters.replace('NAME', 'asset_file'))}${formEnd}`
    const headers = { 'Content-Type': formType }
    const answer = await send(app.url, { method: 'POST', path: '/api/v3/assets/', raw, token: user.token, headers })
    return expectOk(answer).asset_file_name
  },
  async GraphQL(parameters: string): Promise<string> {
    const raw = `${registrationByGraphQL}${filePart(parameters.replace('NAME', '0'))}${formEnd}`
    const headers = { 'Content-Type': formType, 'GraphQL-Require-Preflight': '1' }
    const { id } = expectOk(await send(`${app.url}/graphql`, { raw, token: user.token, headers })).registerAsset.asset
    return expectOk(await user.rest('GET', `assets/${id}/`)).asset_file_name
  },
}

describe.each(Object.entries(apis))('file names of uploads over %s', (_, register) => {
  it.each([
    [`name="NAME"; filename="plain.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`, 'größe.txt'],
    [`name="NAME"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt; filename="plain.txt"`, 'größe.txt'],
    [`filename*=utf-8'de'gr%c3%b6%c3%9fe.txt; filename="plain.txt"; name="NAME"`, 'größe.txt'],
    [`name=NAME; filename=plain.txt; FILENAME*=UTF-8''%E5%9C%96.txt`, '圖.txt'],
    [`name="NAME"; filename*=UTF-8''%E5%9C%96.txt`, '圖.txt'],
    [`name="NAME"; filename="plain.txt"; filename*="UTF-8''%E5%9C%96.txt"`, '圖.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=ISO-8859-1''gr%F6%DFe.txt`, 'größe.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=UTF-8''a%22b%25c%3B.txt`, 'a"b%c;.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=UTF-8''..%2Fa%5Cb.txt`, 'b.txt'],
    [`name="NAME"; filename="=?utf-8?B?cGxhaW4udHh0?="; filename*=utf-8''%E5%9C%96.txt`, '圖.txt'],
  ])('the file name of an upload comes from the parameter filename* if it is valid: %s', async (parameters, name) => {
    expect(await register(parameters)).toBe(name)
  })

  it.each([
    [`name="NAME"; filename="plain.txt"; filename*=UTF-8''%ZZ.txt`, 'plain.txt'],
    [`name="NAME"; filename*=UTF-8''%E5%9C.txt; filename="plain.txt"`, 'plain.txt'],
    [`filename="plain.txt"; filename*=UTF-8''a%; name="NAME"`, 'plain.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=no-charset''a.txt`, 'plain.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=a.txt`, 'plain.txt'],
    [`name="NAME"; filename="plain.txt"; filename*=UTF-8''`, 'plain.txt'],
    [`filename="größe \\"1\\".txt"; filename*=UTF-8''%; name="NAME"`, 'größe "1".txt'],
    [`name="NAME"; filename="a; filename*=UTF-8''b.txt"`, `a; filename*=UTF-8''b.txt`],
  ])(
    'the file name of an upload comes from the parameter filename if filename* is invalid: %s',
    async (parameters, name) => {
      expect(await register(parameters)).toBe(name)
    },
  )
})

it('a download sends the file name as both filename and filename*', async () => {
  const name = "größe 圖 😀 '1' (2)*%\".txt"
  const { id } = await user.register({ asset_file: new File([randomBytes(9)], name), public_access: 'true' })
  const header = (await app.rest('GET', `/ipfs/${id}`)).headers.get('content-disposition')!
  const [, plain, extended] = /^\w+; filename="([^"]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(header) ?? []
  expect(plain).toBe(`gr__e _ _ '1' (2)*__.txt`)
  expect(decodeURIComponent(extended!)).toBe(name)
})
