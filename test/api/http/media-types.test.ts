/** Media types are case-insensitive (RFC 9110, section 8.3.1) in every API. */
import { describe, expect, it } from 'vitest'
import { readEvents } from '../../support/event-stream.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formEnd, formType, partHead, registrationByGraphQL } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const graphqlUrl = `${app.url}/graphql`
const formOf = (random: string) =>
  `${registrationByGraphQL}${partHead('0', 'a.bin', 'Application/Octet-Stream')}${random}${formEnd}`
const upperCaseForm = formType.replace('multipart/form-data', 'MULTIPART/form-data')

describe('the endpoint /graphql', () => {
  it.each([
    'Application/JSON',
    'APPLICATION/JSON; Charset=UTF-8',
    'application/GraphQL+JSON',
    'application/json ; charset="utf-8"',
  ])('reads a JSON body sent as %s', async (type) => {
    const answer = await send(graphqlUrl, { raw: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } })
    expect(expectOk(answer)).toEqual({ __typename: 'Query' })
  })

  it.each(['application/graphql', 'application/GraphQL; Charset=UTF-8'])(
    'reads a document sent as %s',
    async (type) => {
      const answer = await send(graphqlUrl, { raw: '{ __typename }', headers: { 'Content-Type': type } })
      expect(expectOk(answer)).toEqual({ __typename: 'Query' })
    },
  )

  it.each(['application/json-patch+json', 'application/graphql+jsonx', 'text/json'])(
    'rejects the other media type %s with 415',
    async (type) => {
      const answer = await send(graphqlUrl, { raw: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } })
      expect(expectError(answer, 'UNSUPPORTED_MEDIA_TYPE').status).toBe(415)
    },
  )

  it('reads an upload sent as MULTIPART/form-data', async () => {
    const headers = { 'Content-Type': upperCaseForm, 'GraphQL-Require-Preflight': '1' }
    const answer = await send(graphqlUrl, { raw: formOf('upper case'), token: user.token, headers })
    expect(expectOk(answer).registerAsset.asset.id).toMatch(/^baf/)
  })

  it('rejects MULTIPART/form-data without a header that needs a preflight', async () => {
    const answer = await send(graphqlUrl, { raw: formOf('x'), headers: { 'Content-Type': upperCaseForm } })
    expect(expectError(answer, 'VALIDATION_FAILED').status).toBe(400)
  })

  it('rejects MULTIPART/form-data with an invalid token before it reads the body', async () => {
    const headers = { 'Content-Type': upperCaseForm, 'GraphQL-Require-Preflight': '1' }
    const answer = await send(graphqlUrl, { raw: 'not a form', token: 'f'.repeat(40), headers })
    expectError(answer, 'AUTHENTICATION_FAILED')
  })

  it.each([
    ['APPLICATION/JSON', 'application/json; charset=utf-8'],
    ['Application/GraphQL-Response+JSON; Charset=UTF-8', 'application/graphql-response+json; charset=utf-8'],
  ])('responds to Accept: %s with %s', async (accept, type) => {
    for (const message of [{ json: { query: '{ __typename }' } }, { path: '?query={__typename}' }]) {
      const answer = await send(graphqlUrl, { ...message, headers: { Accept: accept } })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    }
  })

  it('opens a subscription for Accept: Text/Event-Stream; Charset=UTF-8', async () => {
    const { id } = await user.register()
    const reader = await readEvents(graphqlUrl, {
      actor: user,
      body: { query: `subscription { commitUpdated(nid: "${id}") { id } }` },
      headers: { Accept: 'Text/Event-Stream; Charset=UTF-8' },
    })
    expect([reader.status, reader.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    reader.close()
  })

  it('shows the playground for Accept: Text/HTML', async () => {
    const { headers } = await send(graphqlUrl, { headers: { Accept: 'Text/HTML' } })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('the REST API', () => {
  const path = '/api/v3/auth/users/me/'
  it.each([
    ['Application/JSON; Charset=UTF-8', '{"default_tag":"json"}', 'json'],
    ['Application/Merge-Patch+JSON', '{"default_tag":"patch"}', 'patch'],
    ['Application/X-WWW-Form-URLEncoded', 'default_tag=form', 'form'],
    [
      'Multipart/Form-Data; Boundary=b',
      '--b\r\nContent-Disposition: Form-Data; Name="default_tag"\r\n\r\nparts\r\n--b--\r\n',
      'parts',
    ],
  ])('reads a body sent as %s', async (type, raw, tag) => {
    const headers = { 'Content-Type': type }
    const answer = await send(app.url, { method: 'PATCH', path, raw, token: user.token, headers })
    expect(expectOk(answer).default_tag).toBe(tag)
  })
})

describe('an asset whose media type has capitals', () => {
  const register = async (type: string) => {
    const fields = { asset_file: newFile(), asset_file_mime_type: type, public_access: 'true' }
    return (await user.register(fields)).id as string
  }

  it.each(['IMAGE/PNG', 'Video/MP4', 'TEXT/Plain'])('is served inline by the gateway: %s', async (type) => {
    const { headers } = await send(app.url, { path: `/ipfs/${await register(type)}` })
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('content-disposition')).toMatch(/^inline/)
  })

  it.each(['IMAGE/SVG+XML', 'TEXT/HTML'])(
    'is served as a download when browsers run it as a page: %s',
    async (type) => {
      const { headers } = await send(app.url, { path: `/ipfs/${await register(type)}` })
      expect(headers.get('content-type')).toBe('application/octet-stream')
      expect(headers.get('content-disposition')).toMatch(/^attachment/)
    },
  )

  it.each([
    ['IMAGE/PNG', 'ImageObject', '<img src='],
    ['VIDEO/MP4', 'VideoObject', '<video '],
    ['Audio/MPEG', 'AudioObject', '<audio '],
  ])('is displayed on its page: %s', async (type, schemaType, element) => {
    const { text } = await send(app.url, { path: `/assets/${await register(type)}` })
    expect(text).toContain(`"@type":"${schemaType}"`)
    expect(text).toContain(element)
  })
})
