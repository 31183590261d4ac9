/** Grants whose time comes at once. */
import { statement, uuid } from '../../src/domain/sql.ts'
import type { TestApp } from './test-app.ts'
import type { TestUser } from './user.ts'

const end = statement(
  'test_end_grants',
  { parameters: { user: uuid } },
  `with ended as (
     update point_grants set expires_at = date_trunc('milliseconds', now())
     where wallet_id = $user and expires_at > now() and expired_at is null returning expires_at
   )
   update wallets set points_expire_at = least(points_expire_at, (select min(expires_at) from ended)) where user_id = $user`,
)

/** The time of all grants of a user is over, and no sweep has come. */
export const expireGrants = ({ installation }: TestApp, user: TestUser) =>
  installation.database.query(end, { user: user.id })
