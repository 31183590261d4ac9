/** Deliberately faulty password reset for the control of F18, never part of the product. It reads, checks and writes in separate steps. */
import pg from 'pg'
import { createPasswordHasher } from '../../src/keys/password-hasher.ts'
import { tokenKey } from '../../src/modules/accounts/mailed-links.ts'
import type { MailedLink } from '../../test/support/read-mails.ts'
import type { Outcome, Use } from './token-uses.ts'

export async function createCarelessReset(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 20, application_name: 'careless reset' })
  pool.on('error', () => undefined)
  const passwords = createPasswordHasher()

  async function reset({ uid, token }: MailedLink, password: string): Promise<string> {
    const { userId, hash } = tokenKey({ uid, token })!
    const { rows } = await pool.query(
      `select hash, used_at, expires_at < now() as is_over from one_time_tokens
       where user_id = $1 and purpose = 'PASSWORD_RESET'`,
      [userId],
    )
    const [found] = rows
    if (!found || found.used_at || found.is_over || !hash.equals(found.hash)) return 'refused'
    const passwordHash = await passwords.hash(password)
    await pool.query('update users set password_hash = $2 where id = $1', [userId, passwordHash])
    await pool.query('update one_time_tokens set used_at = now() where user_id = $1', [userId])
    return 'done'
  }

  return {
    async use(link: MailedLink, index: number): Promise<Outcome> {
      const use: Use = { door: 'control', gateway: 0, password: `careless use ${index}`, link }
      const sentAt = performance.now()
      const verdict = await reset(link, use.password).catch((error: Error) => error.message)
      return { ...use, verdict, sentAt, answeredAt: performance.now() }
    },
    close: () => pool.end(),
  }
}
