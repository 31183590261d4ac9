/** Somebody with a token, and an administrator with a session of the pages. */
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { trySend } from '../../test/support/http-client.ts'
import type { Gateway } from './gateway.ts'
import { type Person, signIn, signUp } from './people.ts'
import { runSql } from './run-sql.ts'

export interface Senders {
  /** What tells who sends, as headers: to a page for administrators a session, elsewhere a token. */
  headers(path: string): Record<string, string>
  /** Sentences about those whom the service does not know any more. */
  forgotten(): Promise<string[]>
}

async function openSession({ url }: Gateway, { email, password }: Person): Promise<string> {
  const answer = await trySend(`${url}/admin/sign-in`, { urlencoded: { email, password } })
  const cookie = answer.headers.get('set-cookie')
  if (!cookie) throw new Error(`An administrator could not sign in: ${answer.status} ${answer.text.slice(0, 300)}`)
  return cookie.split(';')[0]!
}

export async function openSenders(gateway: Gateway, database: ConnectedDatabase): Promise<Senders> {
  const user = { authorization: `token ${await signIn(gateway, await signUp(gateway, 'sender'))}` }
  const overseer = await signUp(gateway, 'overseer')
  await runSql(database, `update users set role = 'ADMIN' where username = 'overseer'`)
  const admin = { cookie: await openSession(gateway, overseer) }
  const headers = (path: string) => (path.startsWith('/admin') ? admin : user)
  const isKnown = async (path: string) => (await trySend(gateway.url + path, { headers: headers(path) })).status === 200
  return {
    headers,
    async forgotten() {
      const reasons: string[] = []
      for (const path of ['/api/v3/auth/users/me/', '/admin'])
        if (!(await isKnown(path)))
          reasons.push(`Whoever sent with a token or session is not known at ${path} any more.`)
      return reasons
    },
  }
}
