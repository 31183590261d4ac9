/**
 * What a write for several callers holds of an account before it changes anything: its wallet, which pays, and its user, whom new rows
 * name. Where somebody else holds one of them the account is passed over, so that nobody waits for a stranger's.
 */
export const heldAccountSql = {
  /** `user`: SQL of the UUID. */
  join: (user: string) => `join wallets held on held.user_id = ${user} join users named on named.id = ${user}`,
  locks: 'for no key update of held skip locked for key share of named skip locked',
}
