/** Users for generated requests, created through the API of a running service. */
import { createHash, randomBytes } from 'node:crypto'
import { ask } from './client.ts'
import type { FuzzTools, FuzzUser } from './fuzz-scene.ts'

const PASSWORD = 'a password of the fuzz'

/**
 * Returns a function that creates users of a role. Each account signs up once. Later sign-ins insert a session row, because hashing
 * passwords is slow and not under test.
 */
export function fuzzPeople({ url, sql }: Pick<FuzzTools, 'url' | 'sql'>): FuzzTools['newUser'] {
  const accounts = new Map<string, { id: string; publicId: string; hash: string }>()

  async function signUp(role: string) {
    const name = randomBytes(6).toString('hex')
    const json = { username: name, email: `${name}@example.org`, password: PASSWORD }
    const { id: publicId } = await ask<{ id: string }>(url, { path: '/api/v3/auth/users/', json }, 201)
    const [row] = await sql<{ id: string; hash: string }>(
      'select id::text as id, password_hash as hash from users where username = $1',
      [name],
    )
    const account = { id: row!.id, hash: row!.hash, publicId }
    accounts.set(role, account)
    return account
  }

  async function newUser(role: 'USER' | 'ADMIN'): Promise<FuzzUser> {
    const known = accounts.get(role)
    const [alive] = known ? await sql('select 1 from users where id = $1::uuid and deleted_at is null', [known.id]) : []
    const account = alive ? known! : await signUp(role)
    const [row] = await sql<{ email: string }>(
      'update users set password_hash = $2, role = $3::role, locked_at = null where id = $1::uuid returning email',
      [account.id, account.hash, role],
    )
    await sql('delete from limits', [])
    const token = randomBytes(20).toString('hex')
    const hash = createHash('sha256').update(token).digest()
    await sql('insert into access_tokens (user_id, hash, name) values ($1::uuid, $2::bytea, $3)', [
      account.id,
      hash,
      'fuzz',
    ])
    return { id: account.id, publicId: account.publicId, token, email: row!.email, password: PASSWORD }
  }
  return newUser
}
