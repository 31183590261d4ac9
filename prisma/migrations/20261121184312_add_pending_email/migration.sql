-- AlterTable
ALTER TABLE "users" ADD COLUMN     "email_held" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "pending_email" TEXT;

-- From here on: what Prisma's language cannot say.

-- Several may claim an address that none of them has verified; one holds it. Accounts that are there already hold theirs.
DROP INDEX "users_email_key";
CREATE UNIQUE INDEX "users_email_key" ON "users" (lower("email")) WHERE "email_held";
CREATE INDEX "users_email_idx" ON "users" (lower("email"));
CREATE INDEX "users_pending_email_idx" ON "users" (lower("pending_email")) WHERE "pending_email" IS NOT NULL;
ALTER TABLE "users" ADD CONSTRAINT "users_email_verified_is_held" CHECK ("email_held" OR NOT "email_verified");
