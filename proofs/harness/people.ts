/** Accounts at the front door: who signs up, signs in, and loses a password. */

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

/** Gateways on one database that send their mail to the server, and let one address ask as often as it likes. */
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
    // One after the other: the first one writes what all need.
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

/** Throws when it is refused. */
export async function signUp({ url }: Pick<Gateway, 'url'>, username: string): Promise<Person> {
  const person = { email: addressOf(username), password: `first of ${username}` }
  const answer = await trySend(`${url}/api/v3/auth/users/`, { json: { username, ...person } })
  expectStatus(answer, 201, 'A sign-up')
  return person
}

export const trySignIn = ({ url }: Pick<Gateway, 'url'>, { email, password }: Person) =>
  trySend(`${url}/api/v3/auth/token/login/`, { json: { email, password } })

/** An access token. Throws when it is refused. */
export async function signIn(gateway: Pick<Gateway, 'url'>, person: Person): Promise<string> {
  const { text } = expectStatus(await trySignIn(gateway, person), 200, 'A sign-in')
  return (JSON.parse(text) as { auth_token: string }).auth_token
}

export const askReset = ({ url }: Pick<Gateway, 'url'>, email: string) =>
  trySend(`${url}/api/v3/auth/users/reset_password/`, { json: { email } })

const clearLimits = statement('proof_clear_limits', {}, 'delete from limits')

/** As if the hours had passed after which somebody may ask again. */
export const forgetLimits = (database: ConnectedDatabase) => database.query(clearLimits)

const findOpenJobs = statement(
  'proof_open_mails',
  { columns: { count: int } },
  `select count(*)::int as count from jobs.job where name in ('mail', 'account-mail') and state < 'completed'`,
)

/** How many mails are not away yet. */
export const countOpenMails = async (database: ConnectedDatabase) => (await database.query(findOpenJobs))[0]!.count

/** Until no mail is left to send. */
export const mailsAway = (database: ConnectedDatabase, milliseconds = 60_000) =>
  until('every mail is away', async () => (await countOpenMails(database)) === 0, milliseconds, 50)

/** Stops the gateways. A sentence for each that does not end as it should. */
export async function stopGateways(gateways: readonly Gateway[]): Promise<string[]> {
  const codes = await Promise.all(gateways.map((gateway) => gateway.stop()))
  return codes.flatMap((code, index) => (code === 0 ? [] : [`${gateways[index]!.name} ended with ${code} on SIGTERM.`]))
}
