/** Adds 100 currency units to the wallet of user `$1`. It makes the ledger entries of a deposit, without a chain transaction. */
export const fundSql = `
  with paid as (update wallets set num = num + 100 where user_id = $1::uuid returning user_id),
  moved as (insert into transfers (reference) select 'deposit:' || gen_random_uuid() from paid returning id)
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select moved.id, line.* from moved, lateral (values
    (1, $1::uuid, null::book, 'NUM'::currency, 100::numeric), (2, null, 'DEPOSITS', 'NUM', -100)) as line`
