/** Conditions and sums of coins that more than one statement goes by. The conditions on status are written as the partial index `coin_moves_open_idx` has them. */

/** Of a move `m`: signed and not settled. */
export const isSignedSql = `m.status in ('SIGNED', 'BROADCAST', 'INCLUDED')`
/** The same, and not set aside. */
export const isOpenSql = `${isSignedSql} and m.stranded_at is null`
/** Of a deposit `d`: the chain's own coin, of whatever way it came in, and in the books; the others are tokens. */
export const isCoinSql = `d.kind <> 'TOKEN' and d.status = 'CREDITED'`
/** What lies at a wallet's address by the books: what was credited there, less what was ever signed to leave it and is not set aside. */
export const lyingSql = (wallet: string) => `
   (select coalesce(sum(d.amount), 0) from deposits d where d.wallet_id = ${wallet}.user_id and ${isCoinSql})
   - (select coalesce(sum(m.amount), 0) from coin_moves m where m.sender = ${wallet}.address and m.stranded_at is null)`
