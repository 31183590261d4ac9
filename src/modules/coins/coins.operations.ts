/** Functions of coins for the command line. */
export { createDepositLedger } from './deposit-ledger.ts'
export { creditTransaction } from './deposits/credit-transaction.ts'
export { readDecimals } from './deposits/deposit-watcher.ts'
export { collectShortfall, listFrozenDeposits, writeOffShortfall } from './deposits.ts'
export { checkCoins, checkDeposits } from './treasury/check-coins.ts'
export { compareCoins, importUnknown } from './treasury/compare-coins.ts'
export { createTreasury, findCoinsAtEarlier } from './treasury/treasury.ts'
export { countDueWithdrawals, findUnaccepted } from './withdrawals.sql.ts'
