/** Accounts that sign up, sign in and reset passwords through the API. */

import type { ConnectedDatabase } from '../../src/db/database.ts'
import { int, statement } from '../../src/db/sql.ts'
import { until } from '../../test/support/eventually.ts'
import { type Answer, trySend } from '../../test/support/http-client.ts'
import type { MailServer } from '../../test/support/mail-server.ts'
import { createGateway, type Gateway } from './gateway.ts'
import type { Parts } from './parts.ts'
import type { ProofContext } from './proof.ts'

export interface Person {
  email: string
  password: string
}

/** Opens gateways on one database that use the given mail server, without rate limits per address. */
export async function openGateways(
  context: ProofContext,
  parts: Parts,
  { mailServer, count }: { mailServer: MailServer; count: number },
): Promise<Gateway[]> {
  const gateways: Gateway[] = []
  for (let index = 0; index < count; index += 1) {
    const env = {
      ...parts.env,
      SMTP_URL: mailServer.url,
    }
    const gateway = await createGateway(context, `gateway-${index}`, env)
    // Start one after the other, because the first gateway writes data that all need.
    await gateway.start()
    gateways.push(gateway)
  }
  return gateways
}

export const addressOf = (name: string) => `${name}@example.org`

const expectStatus = (answer: Answer, status: number, what: string) => {
  if (answer.status !== status) throw new Error(`${what} was answered with ${answer.status}: ${answer.text}`)
  return answer
}

/** Signs up. Throws if it is rejected. */
export async function signUp({ url }: Pick<Gateway, 'url'>, username: string): Promise<Person> {
  const person = { email: addressOf(username), password: `first of ${username}` }
  const answer = await trySend(`${url}/api/v3/auth/users/`, { json: { username, ...person } })
  expectStatus(answer, 201, 'A sign-up')
  return person
}

export const trySignIn = ({ url }: Pick<Gateway, 'url'>, { email, password }: Person) =>
  trySend(`${url}/api/v3/auth/token/login/`, { json: { email, password } })

/** Signs in and returns an access token. Throws if it is rejected. */
export async function signIn(gateway: Pick<Gateway, 'url'>, person: Person): Promise<string> {
  const { text } = expectStatus(await trySignIn(gateway, person), 200, 'A sign-in')
  return (JSON.parse(text) as { auth_token: string }).auth_token
}

export const askReset = ({ url }: Pick<Gateway, 'url'>, email: string) =>
  trySend(`${url}/api/v3/auth/users/reset_password/`, { json: { email } })

const clearLimits = statement('proof_clear_limits', {}, 'delete from limits')

/** Resets all rate limits. */
export const forgetLimits = (database: ConnectedDatabase) => database.query(clearLimits)

const findOpenJobs = statement(
  'proof_open_mails',
  { columns: { count: int } },
  `select count(*)::int as count from jobs.job where name in ('mail', 'account-mail') and state < 'completed'`,
)

/** Counts the mails that are not yet sent. */
export const countOpenMails = async (database: ConnectedDatabase) => (await database.query(findOpenJobs))[0]!.count

/** Waits until all mails are sent. */
export const mailsAway = (database: ConnectedDatabase, milliseconds = 60_000) =>
  until('every mail is away', async () => (await countOpenMails(database)) === 0, milliseconds, 50)

/** Stops the gateways. Returns a message for each that does not stop cleanly. */
export async function stopGateways(gateways: readonly Gateway[]): Promise<string[]> {
  const codes = await Promise.all(gateways.map((gateway) => gateway.stop()))
  return codes.flatMap((code, index) => (code === 0 ? [] : [`${gateways[index]!.name} ended with ${code} on SIGTERM.`]))
}
