/** Reads from replicas (decision 44) while these are exchanged for others behind one address, or promoted; and after an address was verified. */
import { connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { createAccountMails } from '../support/account-mails.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { createGraphQL } from '../support/graphql-client.ts'
import { listen } from '../support/listen.ts'
import { createReplicatedApp, type ReplicatedApp } from '../support/replicated.ts'
import type { Standby } from '../support/standby.ts'
import { startAnother } from '../support/start-another.ts'
import { PASSWORD } from '../support/user.ts'

/** Where connections to the address of the replica lead, as a balancer decides: those that are open stay where they are. */
let leadsTo: Standby

async function balancer(first: Standby): Promise<string> {
  leadsTo = first
  const server = createServer((from) => {
    const { hostname, port } = new URL(leadsTo.url)
    const to = connect(Number(port), hostname)
    const end = () => {
      from.destroy()
      to.destroy()
    }
    for (const socket of [from, to]) socket.on('error', end).on('close', end)
    from.pipe(to).pipe(from)
  })
  const url = new URL(first.url)
  url.port = String(await listen(server, atEnd))
  return url.href
}

let replicated: ReplicatedApp | undefined
const mails = await createAccountMails({ EMAIL_VERIFICATION: 'required' }, async (env) => {
  replicated = await createReplicatedApp(env, balancer)
  return replicated.app
})
const { app, standby, another, fromReplica, whilePaused } = replicated!
const other = await startAnother(app)
atEnd(other.stop)
const owner = await app.newUser({ num: '100' })

const asset = (nid: string) => app.rest('GET', `assets/${nid}/`)
const hide = (nid: string) => owner.rest('PATCH', `assets/${nid}/`, { json: { public_access: false } })
const statesOf = () => app.installation.database.replicas.states()

async function shownAsset(): Promise<string> {
  const { id } = await owner.register({ public_access: 'true' })
  await leadsTo.catchUp()
  await fromReplica(() => asset(id))
  return id
}

it('who verified another address by its link is shown it by any process, however far behind the replica is', async () => {
  const user = await app.newUser()
  await app.sql('update users set email_verified = true where id = $1::uuid', [user.id])
  const email = `new-${user.email}`
  const change = { current_password: PASSWORD, new_email: email }
  expect((await user.rest('POST', 'auth/users/set_email/', { json: change })).status).toBe(204)
  const { uid, token } = await mails.awaitLink(email, 'email-verification')
  const { id } = await user.register({})
  const shown = async (url: string, as: { token: string }) => {
    const { body } = await createGraphQL(url, { actor: as })('{ me { email assets(first: 1) { nodes { id } } } }')
    expect(body.data.me.assets.nodes).toEqual([{ id }])
    return body.data.me.email
  }
  await standby.catchUp()
  await fromReplica(() => shown(app.url, user))
  await whilePaused(async () => {
    // By somebody who is not signed in.
    const page = await app.rest('POST', `/account/email-verification/${uid}/${token}`, { urlencoded: {} })
    expect(page.status).toBe(200)
    const signIn = { email, password: PASSWORD }
    const { auth_token } = expectOk(await app.rest('POST', 'auth/token/login/', { json: signIn }))
    for (const url of [app.url, other.url]) {
      expect(await shown(url, { token: auth_token })).toBe(email)
      expect(await shown(url, user)).toBe(email)
    }
  })
})

it('of two replicas behind one address the one that is behind is not read from for the other', async () => {
  const [nid, shown] = [await shownAsset(), await shownAsset()]
  const second = await another()
  await second.catchUp()
  await standby.pause()
  expectOk(await hide(nid))
  expect(await standby.sql(`select public_access from assets where nid = '${nid}'`)).toEqual([{ public_access: true }])
  // The balancer takes the first one out; connections that reads are done on stay where they are.
  leadsTo = second
  const watches = `select count(pg_terminate_backend(pid))::int as n from pg_stat_activity where application_name = 'annal replica watch'`
  await standby.sql(watches)
  await second.catchUp()
  await fromReplica(() => asset(shown))
  for (let times = 0; times < 10; times += 1) expect((await asset(nid)).status).toBe(404)
  await standby.resume()
})

it('a replica that is promoted by itself is not read from any more', async () => {
  const nid = await shownAsset()
  await leadsTo.sql('select pg_promote(true, 30)')
  expectOk(await hide(nid))
  expect(await leadsTo.sql(`select public_access from assets where nid = '${nid}'`)).toEqual([{ public_access: true }])
  expect((await asset(nid)).status).toBe(404)
  await eventually(statesOf, ([state]) => state!.trouble === 'it is no replica any more')
  expect((await asset(nid)).status).toBe(404)
})
