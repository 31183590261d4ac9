import { randomBytes, randomUUID } from 'node:crypto'
import { creditDeposits, storeFoundDeposits } from '../../src/modules/coins/deposits.sql.ts'
import type { TestApp } from './test-app.ts'
import type { TestUser } from './user.ts'

/** Credits deposits of 1 each to a user in one statement, without a chain. */
export async function creditDepositsOf({ installation: { database }, sql }: TestApp, user: TestUser, count: number) {
  const key = randomUUID()
  await sql(`insert into key_values values ($1, '1')`, [key])
  const each = <T>(value: () => T) => Array.from({ length: count }, value)
  const hash = () => `0x${randomBytes(32).toString('hex')}`
  const references = each(() => `deposit:${hash()}:-1`)
  await database.query(storeFoundDeposits, {
    ...{ setting: key, from: '1', to: '2', references, kinds: each(() => 'COIN' as const) },
    ...{ hashes: each(hash), addresses: each(() => user.address), amounts: each(() => '1') },
    ...{ blockNumbers: each(() => 1), blockHashes: each(hash) },
  })
  return database.query(creditDeposits, { references, due: 1 })
}
