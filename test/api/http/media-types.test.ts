/** Media types are case-insensitive (RFC 9110, section 8.3.1) in every API. */
import { describe, expect, it } from 'vitest'
import { readEvents } from '../../support/event-stream.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formEnd, formType, partHead, registrationByGraphQL } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const graphqlUrl = `${app.url}/graphql`
const formOf = (random: string) =>
  `${registrationByGraphQL}${partHead('0', 'a.bin', 'Application/Octet-Stream')}${random}${formEnd}`
const upperCaseForm = formType.replace('multipart/form-data', 'MULTIPART/form-data')

describe('endpoint /graphql', () => {
  it.each([
    'Application/JSON',
    'APPLICATION/JSON; Charset=UTF-8',
    'application/GraphQL+JSON',
    'application/json ; charset="utf-8"',
  ])('/graphql accepts a JSON body with the Content-Type %s', async (type) => {
    const answer = await send(graphqlUrl, { raw: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } })
    expect(expectOk(answer)).toEqual({ __typename: 'Query' })
  })

  it.each(['application/graphql', 'application/GraphQL; Charset=UTF-8'])(
    '/graphql accepts a document with the Content-Type %s',
    async (type) => {
      const answer = await send(graphqlUrl, { raw: '{ __typename }', headers: { 'Content-Type': type } })
      expect(expectOk(answer)).toEqual({ __typename: 'Query' })
    },
  )

  it.each(['application/json-patch+json', 'application/graphql+jsonx', 'text/json'])(
    '/graphql rejects the Content-Type %s with 415',
    async (type) => {
      const answer = await send(graphqlUrl, { raw: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } })
      expect(expectError(answer, 'UNSUPPORTED_MEDIA_TYPE').status).toBe(415)
    },
  )

  it('/graphql accepts an upload sent as MULTIPART/form-data', async () => {
    const headers = { 'Content-Type': upperCaseForm, 'GraphQL-Require-Preflight': '1' }
    const answer = await send(graphqlUrl, { raw: formOf('upper case'), token: user.token, headers })
    expect(expectOk(answer).registerAsset.asset.id).toMatch(/^baf/)
  })

  it('/graphql rejects MULTIPART/form-data without a header that requires a preflight', async () => {
    const answer = await send(graphqlUrl, { raw: formOf('x'), headers: { 'Content-Type': upperCaseForm } })
    expect(expectError(answer, 'VALIDATION_FAILED').status).toBe(400)
  })

  it.each([
    ['APPLICATION/JSON', 'application/json; charset=utf-8'],
    ['Application/GraphQL-Response+JSON; Charset=UTF-8', 'application/graphql-response+json; charset=utf-8'],
  ])('/graphql responds to the header Accept: %s with the type %s', async (accept, type) => {
    for (const message of [{ json: { query: '{ __typename }' } }, { path: '?query={__typename}' }]) {
      const answer = await send(graphqlUrl, { ...message, headers: { Accept: accept } })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    }
  })

  it('/graphql opens a subscription for the header Accept: Text/Event-Stream; Charset=UTF-8', async () => {
    const reader = await readEvents(graphqlUrl, {
      actor: user,
      body: { query: `subscription { commitUpdated(nid: "${(await user.register()).id}") { id } }` },
      headers: { Accept: 'Text/Event-Stream; Charset=UTF-8' },
    })
    expect([reader.status, reader.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    reader.close()
  })
})

describe('REST API', () => {
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
  ])('the REST API accepts a body with the Content-Type %s', async (type, raw, tag) => {
    const headers = { 'Content-Type': type }
    const answer = await send(app.url, { method: 'PATCH', path, raw, token: user.token, headers })
    expect(expectOk(answer).default_tag).toBe(tag)
  })
})
