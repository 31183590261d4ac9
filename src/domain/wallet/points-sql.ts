/**
 * Points that expire, in the statements that move points. A wallet says when the soonest of its grants ends; as long as
 * that has not come, or there is no such grant, nothing more is looked at. From then on, what is left of that grant stands
 * in the balance until the sweeper has come, and cannot be spent. Whoever changes a grant holds its wallet's row.
 */

/** What of a wallet's points cannot be spent any more. `wallet` is its alias, `at` a moment by the database's clock. */
export const overdueSql = (wallet: string, at = 'now()') =>
  `case when ${wallet}.points_expire_at <= ${at} then overdue_points(${wallet}.user_id, ${at}) else 0 end`

/** What of a wallet's points can be spent. */
export const spendableSql = (wallet: string, at = 'now()') => `(${wallet}.points - ${overdueSql(wallet, at)})`

/**
 * How an amount is paid: points first, what is left in currency units. `points` is what can be spent of them; all are SQL
 * expressions. `quoteOf` says it in TypeScript, and `test/domain/points-first.test.ts` holds the two to each other.
 */
export const pointsFirstSql = (points: string, amount: string) => {
  const inPoints = `least(${points}, ${amount})`
  return { points: inPoints, num: `(${amount} - ${inPoints})` }
}

/** A change of a wallet's points, in the update that writes the wallet. */
export interface ChangeParts {
  /** The wallet's alias in the update that writes it. */
  wallet: string
  /** SQL expression: how its points change. */
  change: string
  at?: string
  /** Expression: the charge that this gives back. */
  undone?: string
}

/** The same change, once its transfer has a name. */
export interface UseParts extends ChangeParts {
  /** SQL expression: the transfer that changes them. */
  transfer: string
}

/**
 * What an update of a wallet returns so that its grants are used: those that expire soonest pay first, and get back what a
 * refund returns. Nothing is looked at in a wallet whose points never expire.
 */
export const useGrantsSql = ({ wallet, change, transfer, at = 'now()', undone = 'null' }: UseParts) =>
  `case when ${wallet}.points_expire_at is not null then use_grants(${wallet}.user_id, ${change}, ${at}, ${transfer}, ${undone}::uuid) end as used`
