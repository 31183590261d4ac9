import { describe, expect, it } from 'vitest'
import { bothApis, callerWith } from '../../support/api.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const admin = await app.admin()

describe.each(bothApis)('account deletion over $name', (api) => {
  it('account deletion rejects anonymous callers and wrong tokens', async () => {
    ;(await api.deleteAccount(app)).fails('NOT_AUTHENTICATED')
    ;(await api.deleteAccount(callerWith(app, 'wrong'))).fails('AUTHENTICATION_FAILED')
  })

  it('account deletion deletes the account and its sessions, and frees its username and address', async () => {
    const account = { username: `gone-${api.name}`, email: `gone-${api.name}@example.org`, password: PASSWORD }
    const { id } = (await api.signUp(app, account)).ok()
    const signIn = () => api.signIn(app, { email: account.email, password: PASSWORD })
    const user = callerWith(app, (await signIn()).ok().token)
    ;(await api.deleteAccount(user)).ok()
    ;(await api.deleteAccount(user)).fails('AUTHENTICATION_FAILED')
    ;(await api.readMe(user)).fails('AUTHENTICATION_FAILED')
    ;(await signIn()).fails('INCORRECT_LOGIN_CREDENTIALS')
    expect(expectOk(await admin.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull()
    ;(await api.signUp(app, account)).ok()
  })

  it("deleting a seller's account deactivates the network apps and cancels their open orders", async () => {
    const store = await createStore(app)
    const buyer = await app.newUser()
    const options = { headers: store.service }
    const { id } = (await api.createOrder(buyer, { networkApp: store.appId }, options)).ok()
    ;(await api.deleteAccount(store.owner)).ok()
    const rejected = await api.confirmOrder(buyer, { id }, options)
    rejected.fails('UNABLE_TO_CONFIRM_ORDER')
    expect(rejected.text).toContain('The seller deleted their account.')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '12' })
    ;(await api.createOrder(buyer, { networkApp: store.appId }, options)).fails('INVALID_NETWORK_APP_NAME')
    const document = 'query ($id: ID!) { node(id: $id) { ... on NetworkApp { isActive owner { displayName email } } } }'
    expect(expectOk(await admin.graphql(document, { id: store.appId }))).toEqual({
      node: { isActive: false, owner: { displayName: 'Deleted account', email: null } },
    })
  })
})
