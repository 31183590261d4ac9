/** Requests the pages for administrators like a browser without JavaScript. */
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

export interface Seen {
  status: number
  text: string
  headers: Headers
}

export const guarded = { 'current-password': PASSWORD }

export function hiddenIn(text: string): Record<string, string> {
  const hidden = [...text.slice(text.indexOf('<main')).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')]))
}

export function createAdminBrowser(url: string) {
  let cookie = ''
  async function ask(path: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Seen> {
    const answer = await fetch(url + path, {
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...(form && { 'sec-fetch-site': 'same-origin' }), ...headers },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const set = answer.headers.getSetCookie()[0]
    if (set) cookie = set.split(';')[0]!
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const submit = async (path: string, fields: Record<string, string>) =>
    ask(path, { ...hiddenIn((await ask(path)).text), ...fields })
  return { ask, submit, cookie: () => cookie }
}

export async function signInAtPages(url: string, user: SignedIn, password = PASSWORD) {
  const browser = createAdminBrowser(url)
  const answer = await browser.ask('/admin/sign-in', { email: user.email, password, next: '/admin/orders' })
  return { ...browser, answer }
}

export async function openAdminScene() {
  const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
  const admin = await app.admin()
  const store = await createStore(app, { owner: admin })
  return {
    app,
    admin,
    store,
    createBrowser: () => createAdminBrowser(app.url),
    signIn: (user: SignedIn = admin, password?: string) => signInAtPages(app.url, user, password),
    async sell(): Promise<{ buyer: SignedIn; id: string }> {
      const buyer = await app.newUser({ points: '1', num: '10' })
      const { id } = await store.order(buyer, { action_args: { token: 'live-token' } })
      expectOk(await store.confirm(buyer, id))
      return { buyer, id }
    },
  }
}
