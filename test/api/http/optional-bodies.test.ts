/** Requests that need no body: generated clients send an empty one in some form. */
import { expect, it } from 'vitest'
import { description } from '../../support/described.ts'
import { expectOk } from '../../support/expect-error.ts'
import type { RestOptions } from '../../support/rest-client.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const of = (type: string, raw: string): RestOptions => ({ raw, headers: { 'Content-Type': type } })
const bodies: Record<string, RestOptions> = {
  'an empty JSON object': of('application/json', '{}'),
  'an empty JSON object with a charset': of('application/json; charset=utf-8', ' {}\n'),
  'JSON null': of('application/json', 'null'),
  'an empty JSON list': of('application/json', '[]'),
  'an empty JSON string': of('application/json', '""'),
  'a Content-Type without a body': { headers: { 'Content-Type': 'application/json' } },
  'an empty chunked JSON body': { headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' } },
  'an empty object without a Content-Type': { raw: '{}' },
  'a form without fields': of('multipart/form-data; boundary=+++', '--+++--\r\n'),
  'a form without fields or boundary': { headers: { 'Content-Type': 'multipart/form-data' } },
  'an empty urlencoded form': of('application/x-www-form-urlencoded', ''),
  'plain text without a body': { headers: { 'Content-Type': 'text/plain' } },
  'an unknown field': of('application/json', '{"unknown":null}'),
}

interface Operation {
  operationId: string
  requestBody?: { required?: boolean }
}

const operations = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item as unknown as Record<string, Operation>)
    .filter(([method, { requestBody }]) => method !== 'get' && requestBody?.required !== true)
    .map(([method, { operationId }]) => [operationId, method.toUpperCase(), path] as const),
)

// IDs of resources that do not exist. The error code shows whether the body was accepted.
it.each(operations)('the operation %s accepts each empty body', async (_, method, path) => {
  const address = path.replaceAll(/\{\w+\}/g, 'absent')
  const send = async ({ headers, ...body }: RestOptions) => {
    const actor = address.includes('/store/') ? await app.admin() : await app.newUser()
    const answer = await actor.rest(method, address, { ...body, headers: { ...headers, ...store.service } })
    return { status: answer.status, error: answer.body?.error?.type }
  }
  const expected = await send({})
  const answers: Record<string, unknown> = {}
  for (const [name, body] of Object.entries(bodies)) answers[name] = await send(body)
  expect(answers).toEqual(Object.fromEntries(Object.keys(bodies).map((name) => [name, expected])))
})

it.each(Object.entries(bodies))(
  'quotes, confirms and cancels an order with %s as the body',
  async (_, { headers, ...body }) => {
    const user = await app.newUser({ num: '10' })
    const send = (path: string) => user.rest('POST', path, { ...body, headers: { ...headers, ...store.service } })
    const { id } = await store.order(user)
    expect(expectOk(await send(`quotes/network-app-orders/${id}/confirm/`))).toMatchObject({ total_cost: '2.5' })
    expect(expectOk(await send(`store/network-app-orders/${id}/confirm/`))).toMatchObject({ id, status: 'success' })
    const other = await store.order(user)
    expect(expectOk(await send(`store/network-app-orders/${other.id}/cancel/`))).toMatchObject({ id: other.id })
  },
)
