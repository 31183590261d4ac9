/**
 * How long the server carries a statement of a request out, waits for a lock, and lets a transaction idle: waiting longer helps nobody,
 * as callers retry after 20 s. The last is for a process that is frozen in the middle of a transaction: it holds its rows locked, and
 * those who wait for them, no longer. Milliseconds, by the names of PostgreSQL's settings.
 */
export const timeLimits = {
  statement_timeout: 8_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 5_000,
} as const
