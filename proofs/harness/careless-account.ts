/**
 * The known-bad variants of the proofs about passwords, never part of the product: a server that sends the mail of a lost
 * password within the request, and looks at a password only where there is an account.
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createMailer } from '../../src/delivery/mailer.ts'
import { statement, text, uuid } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { createPasswordHasher } from '../../src/platform/passwords.ts'
import { listen } from '../../test/support/listen.ts'
import { silent } from './parts.ts'
import type { ProofContext } from './proof.ts'

const findAccount = statement(
  'proof_careless_account',
  { parameters: { email: text }, columns: { id: uuid, password_hash: text } },
  'select id, password_hash from users where lower(email) = lower($email) and deleted_at is null',
)

/** Serves the paths of the product. Returns where. */
export async function startCarelessAccounts(
  { dir, afterwards }: Pick<ProofContext, 'dir' | 'afterwards'>,
  { database, smtpUrl }: { database: ConnectedDatabase; smtpUrl: string },
): Promise<{ url: string }> {
  const passwords = createPasswordHasher()
  const mailer = createMailer({ smtpUrl, dir, from: 'Annal <no-reply@localhost>', log: silent })

  async function carryOut(path: string, { email, password }: { email: string; password?: string }): Promise<number> {
    const [account] = await database.query(findAccount, { email })
    if (path.includes('login')) {
      // A sign-in that succeeds is not asked for.
      if (account) await passwords.verify(account.password_hash, password ?? '')
      return 401
    }
    if (account) {
      const content = { language: 'en' as const, subject: 'A new password', text: 'A link', html: '<p>A link</p>' }
      await mailer.send({ ...content, id: crypto.randomUUID(), to: { name: '', address: email }, date: new Date() })
    }
    return 201
  }

  const server = createServer(async (request, response) => {
    const status = await json(request)
      .then(
        (body) => carryOut(request.url!, body as { email: string }),
        () => 500,
      )
      .catch(() => 503)
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  return { url: `http://127.0.0.1:${await listen(server, afterwards)}` }
}
