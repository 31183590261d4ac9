-- Accounts that administrators keep shut, and why they did.
ALTER TABLE "users" ADD COLUMN "locked_at" TIMESTAMPTZ(3);
ALTER TABLE "audit_entries" ADD COLUMN "reason" TEXT;
