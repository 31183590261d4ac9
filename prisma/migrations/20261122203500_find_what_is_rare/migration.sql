-- What is found among many others however many those are: what failed, what waits, what stands in a book of coins, and names by their beginning.
-- Each of these may have been built before, while the service ran (docs/operations.md).
CREATE INDEX IF NOT EXISTS "commit_relays_failed_idx" ON "commit_relays" ("commit_id") WHERE "status" = 'FAILED';
CREATE INDEX IF NOT EXISTS "webhook_deliveries_open_idx" ON "webhook_deliveries" ("network_app_id") WHERE "status" = 'PENDING';
CREATE INDEX IF NOT EXISTS "deposits_gathered_by_idx" ON "deposits" ("gathered_by") WHERE "gathered_by" IS NOT NULL;
CREATE INDEX IF NOT EXISTS "entries_coins_idx" ON "entries" ("book", "currency") INCLUDE ("amount")
  WHERE "book" IN ('DEPOSITS', 'TOKENS', 'SHORTFALL', 'UNDER_WAY', 'TREASURY', 'WITHDRAWALS');
CREATE INDEX IF NOT EXISTS "users_username_prefix_idx" ON "users" ("username_key" text_pattern_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX IF NOT EXISTS "audit_entries_credentials_idx" ON "audit_entries" ("user_id", "created_at")
  WHERE "action" IN ('password.changed', 'password.reset', 'email.changed');

-- Grants of a wallet in the order in which they were made.
CREATE INDEX IF NOT EXISTS "point_grants_wallet_id_id_idx" ON "point_grants" ("wallet_id", "id");
DROP INDEX "point_grants_wallet_id_idx";

-- What an asset pins besides its trees, of which there may be many.
CREATE INDEX IF NOT EXISTS "pins_asset_id_kind_idx" ON "pins" ("asset_id", "kind");
DROP INDEX "pins_asset_id_idx";
