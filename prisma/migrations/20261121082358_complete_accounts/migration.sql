-- CreateEnum
CREATE TYPE "token_purpose" AS ENUM ('PASSWORD_RESET', 'EMAIL_VERIFICATION');

-- AlterTable
ALTER TABLE "access_tokens" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "name" TEXT NOT NULL DEFAULT '';

-- AlterTable
-- Keys that are there already were wrapped without a counterpart; `annal keys rotate` wraps them anew.
ALTER TABLE "user_keys" ADD COLUMN     "version" SMALLINT NOT NULL DEFAULT 1;
ALTER TABLE "user_keys" ALTER COLUMN "version" SET DEFAULT 2;

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "wallets" ADD COLUMN     "closed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "one_time_tokens" (
    "user_id" UUID NOT NULL,
    "purpose" "token_purpose" NOT NULL,
    "request_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_tokens_pkey" PRIMARY KEY ("user_id","purpose")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "user_id" UUID,
    "action" TEXT NOT NULL,
    "subject" TEXT,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "one_time_tokens_hash_key" ON "one_time_tokens"("hash");

-- CreateIndex
CREATE INDEX "audit_entries_user_id_id_idx" ON "audit_entries"("user_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.

ALTER TABLE "user_keys" ADD CONSTRAINT "user_keys_version_known" CHECK ("version" IN (1, 2));
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_hash_length" CHECK (octet_length("hash") = 32);

-- What is looked for again and again after a deletion; nearly always empty.
CREATE INDEX "users_deleted_idx" ON "users" ("id") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "wallets_left_over_idx" ON "wallets" ("user_id") WHERE "closed_at" IS NOT NULL AND ("num" > 0 OR "points" > 0);

-- The audit trail is only ever added to. Deleting an account erases where its owner came from, and nothing else.
CREATE FUNCTION "refuse_audit_update"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erased "audit_entries" := OLD;
BEGIN
    erased."address" := NULL;
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on audit_entries is refused: only the address can be erased'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER "audit_entries_erase_only" BEFORE UPDATE ON "audit_entries"
    FOR EACH ROW EXECUTE FUNCTION "refuse_audit_update"();
CREATE TRIGGER "audit_entries_no_delete" BEFORE DELETE ON "audit_entries"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_entries_no_truncate" BEFORE TRUNCATE ON "audit_entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

ALTER TABLE "audit_entries" SET (autovacuum_analyze_threshold = 20);

-- Answers are sealed from now on; those that were kept in the clear are forgotten. A retry gets the thing as it is now.
UPDATE "idempotency_keys" SET "answer" = NULL WHERE "answer" IS NOT NULL;
