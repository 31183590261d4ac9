/** Every REST list has the same shape and the same parameters. */
import { expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()

const paths = `assets auth/users auth/sessions auth/users/me/audit-entries store/network-apps store/network-app-orders
  store/api-keys store/webhook-deliveries wallet/deposits wallet/transfers wallet/withdrawals
  contacts series products store/products transactions transactions/inbox`

it.each(paths.split(/\s+/))('the REST list %s has the common shape and accepts the common parameters', async (path) => {
  for (const query of ['', '?limit=0', '?limit=rubbish&offset=-1', '?limit=&page_size=3', '?limit=999999']) {
    const page = expectOk(await admin.rest('GET', `${path}/${query}`))
    expect(Object.keys(page)).toEqual(['count', 'next', 'previous', 'results'])
    expect(page).toMatchObject({ count: page.results.length, next: null, previous: null })
  }
})
