/** Creates an account with a session, with the SQL statements of sign-up and sign-in. */
import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/database-types.ts'
import { numeric, statement, uuid } from '../../src/db/sql.ts'
import type { Custody } from '../../src/keys/envelope-encryption.ts'
import { insertToken } from '../../src/modules/accounts/sessions.ts'
import { insertUser } from '../../src/modules/accounts/sign-up.ts'
import { newUuid, toId } from '../../src/shared/ids.ts'

export type TestActor = { token: string }

export interface TestUser extends TestActor {
  id: string
  publicId: string
  username: string
  email: string
  address: string
}

export type UserOptions = { role?: 'USER' | 'ADMIN'; points?: string; num?: string; username?: string; id?: string }

/** Credits an amount like a deposit. */
export const deposit = statement(
  'test_deposit',
  { parameters: { user: uuid, amount: numeric } },
  `with paid as (update wallets set num = num + $amount where user_id = $user returning user_id),
   moved as (insert into transfers (reference) select 'deposit:' || gen_random_uuid() from paid returning id)
   insert into entries (transfer_id, position, wallet_id, book, currency, amount)
   select moved.id, line.* from moved, paid, lateral (values
     (1, paid.user_id, null::book, 'NUM'::currency, $amount), (2, null, 'DEPOSITS', 'NUM', -$amount)) as line`,
)

/** Creates an account with a session, as sign-up does. The ledger invariants hold. */
export async function insertPerson(
  { database, custody }: { database: Database; custody: Custody },
  {
    role = 'USER',
    points = role === 'USER' ? '12' : '0',
    num = '0',
    username,
    id = newUuid(),
    passwordHash,
  }: UserOptions & { passwordHash: string },
): Promise<TestUser> {
  const name = username ?? `u${id.slice(-12)}`
  const email = `${name}@example.org`
  const { address, ...key } = await custody.create(id)
  const unattended = { address: null, scope: null, payloadHash: null }
  await database.query(insertUser, {
    user: id,
    username: name,
    email,
    passwordHash,
    language: 'en-us',
    referralCode: '',
    role,
    isToBeVerified: false,
    wallet: address,
    points,
    ...key,
    ...unattended,
  })
  if (Number(num) > 0) await database.query(deposit, { user: id, amount: num })
  const token = randomBytes(20).toString('hex')
  const secretHash = createHash('sha256').update(token).digest()
  const session = { verifiedHash: passwordHash, hash: secretHash, name: '', days: 0, seed: '' }
  await database.query(insertToken, { user: id, ...session, ...unattended })
  return { id, publicId: toId('user', id), username: name, email, address, token }
}
