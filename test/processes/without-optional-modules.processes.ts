/** The service without the modules `coins`, `content-credentials` and `admin`. */
import { buildSchema, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { coreRoutes as routes } from '../../src/http/create-routes.ts'
import { expectOk } from '../support/expect-error.ts'
import { createRest } from '../support/rest-client.ts'
import { startGateway } from '../support/start-gateway.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, registerWith } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const store = await createStore(app)
const url = await startGateway(app, { modules: [] })

/** A new user whose requests go to the gateway without optional modules. */
async function newUser(options?: Parameters<typeof app.newUser>[0]) {
  const user = await app.newUser(options)
  return { ...user, rest: createRest(url, { actor: user }) }
}

describe('without the optional modules', () => {
  it('a server without the optional modules registers an asset, changes it, and lists its history', async () => {
    const user = await newUser()
    const { id } = (await registerWith(user.rest, { caption: 'before' })).body
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'after' } }))
    expect(await app.commitCount(id)).toBe(2)
    const { commits } = expectOk(await user.rest('GET', `assets/${id}/history/`))
    expect(commits).toHaveLength(2)
  })

  it('a server without the optional modules charges a confirmed order', async () => {
    const buyer = await newUser({ num: '10', points: '0' })
    const order = await store.order(buyer)
    expectOk(await store.confirm(buyer, order.id))
    expect(await app.wallet(buyer)).toEqual({ num: '7.5', points: '0' })
  })

  it('a server without the optional modules deletes an account', async () => {
    const user = await newUser()
    await registerWith(user.rest, {})
    expectOk(await user.rest('DELETE', 'auth/users/me/', { json: { current_password: PASSWORD } }))
    expect(await user.rest('GET', 'auth/users/me/')).toMatchObject({ status: 401 })
  })

  it('a server without the optional modules shows an asset page without a link to a signed copy', async () => {
    const { id } = (await registerWith((await newUser()).rest, { public_access: 'true' })).body
    const page = await fetch(`${url}/assets/${id}`)
    expect(page.status).toBe(200)
    expect(await page.text()).not.toContain('/c2pa')
  })

  it.each(['admin', 'api/v3/wallet/deposits/', 'api/v3/wallet/withdrawals/'])(
    'a server without the optional modules returns 404 at /%s',
    async (path) => {
      const answer = await fetch(`${url}/${path}`, { headers: { authorization: `token ${(await newUser()).token}` } })
      expect(answer.status).toBe(404)
    },
  )

  it('a server without the optional modules executes only operations in its schema', async () => {
    const schema = buildSchema(await (await fetch(`${url}/schema.graphql`)).text())
    expect(schema.getType('Withdrawal')).toBeUndefined()
    expect(schema.getType('Asset')).toBeDefined()
    const problems = routes.flatMap(({ operationId, operation }) =>
      validate(schema, operation).map(({ message }) => `${operationId}: ${message}`),
    )
    expect(problems).toEqual([])
  })
})
