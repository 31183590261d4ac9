/** Who is found by an e-mail address. A claimed address is nobody's yet: several may have given it, and none has shown that it is theirs. */

/** Conditions and order after `from users`: who holds an address, which is an expression; while nobody does, who claimed it first. */
export const byAddressSql = (address: string) =>
  `where lower(users.email) = lower(${address}) and deleted_at is null order by email_held desc, created_at, id limit 1`

/** Whether the address of a user counts for others than its owner: $verified, whether only verified ones do. */
export const countsSql = (mustBeVerified: string, users = 'users'): string =>
  `${users}.email_held and (${users}.email_verified or not ${mustBeVerified}::boolean)`

/** Whether the address of a record counts for others than its owner, as `countsSql` says it. */
export const addressCounts = (
  { emailHeld, emailVerified }: { emailHeld: boolean; emailVerified: boolean },
  mustBeVerified: boolean,
): boolean => emailHeld && (emailVerified || !mustBeVerified)
