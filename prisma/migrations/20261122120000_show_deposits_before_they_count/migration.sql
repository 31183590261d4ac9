-- A deposit is written down when it is found and credited when it counts; one whose block the chain has lost is frozen. What was
-- set aside is a deposit that does not count yet, and is found again by the same sweep.
CREATE TYPE "deposit_kind" AS ENUM ('COIN', 'CONTRACT', 'TOKEN');
CREATE TYPE "deposit_status" AS ENUM ('PENDING', 'CREDITED', 'FROZEN');
ALTER TYPE "book" ADD VALUE 'TOKENS';
ALTER TYPE "book" ADD VALUE 'SHORTFALL';

ALTER TABLE "deposits"
    DROP CONSTRAINT "deposits_pkey",
    ADD COLUMN "id" UUID NOT NULL DEFAULT uuidv7(),
    ADD COLUMN "reference" TEXT,
    ADD COLUMN "kind" "deposit_kind" NOT NULL DEFAULT 'COIN',
    ADD COLUMN "status" "deposit_status" NOT NULL DEFAULT 'CREDITED',
    ADD COLUMN "freezes" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "shortfall" DECIMAL(38,18) NOT NULL DEFAULT 0,
    ADD COLUMN "written_off" DECIMAL(38,18) NOT NULL DEFAULT 0,
    ADD COLUMN "credited_at" TIMESTAMPTZ(3),
    ADD COLUMN "frozen_at" TIMESTAMPTZ(3),
    ALTER COLUMN "amount" TYPE DECIMAL(96,18),
    ALTER COLUMN "transaction_hash" DROP NOT NULL,
    ALTER COLUMN "block_number" DROP NOT NULL,
    ALTER COLUMN "block_hash" DROP NOT NULL;
UPDATE "deposits" SET "reference" = 'deposit:' || "transaction_hash" || ':' || "position", "credited_at" = "created_at";

INSERT INTO "deposits" ("reference", "status", "transaction_hash", "position", "wallet_id", "amount", "block_number", "block_hash", "created_at")
SELECT 'deposit:' || s."transaction_hash" || ':-1', 'PENDING', s."transaction_hash", -1, w."user_id", s."amount"::numeric, s."block_number",
    s."block_hash", s."created_at"
FROM "set_aside_deposits" s JOIN "wallets" w ON w."address" = s."address" ORDER BY s."created_at", s."position";
UPDATE "setbacks" SET "item" = 'deposit:' || "item" || ':-1' WHERE "sweep" = 'credit-deposits';
DROP TABLE "set_aside_deposits";

ALTER TABLE "deposits"
    ADD CONSTRAINT "deposits_pkey" PRIMARY KEY ("id"),
    ALTER COLUMN "kind" DROP DEFAULT,
    ALTER COLUMN "status" DROP DEFAULT,
    ALTER COLUMN "reference" SET NOT NULL,
    DROP COLUMN "position";
CREATE UNIQUE INDEX "deposits_reference_key" ON "deposits"("reference");
DROP INDEX "deposits_wallet_id_idx";
CREATE INDEX "deposits_wallet_id_id_idx" ON "deposits"("wallet_id", "id" DESC);
CREATE INDEX "deposits_block_number_idx" ON "deposits"("block_number");

-- From here on: what Prisma's language cannot say.

CREATE INDEX "deposits_uncredited" ON "deposits"("status", "id") WHERE "status" <> 'CREDITED';

ALTER TABLE "deposits"
    -- What counts, or is on its way to, stands in a block of the chain.
    ADD CONSTRAINT "deposits_block_check" CHECK (("block_number" IS NULL) = ("block_hash" IS NULL) AND ("status" = 'FROZEN' OR "block_number" IS NOT NULL)),
    ADD CONSTRAINT "deposits_frozen_check" CHECK (("status" = 'FROZEN') = ("frozen_at" IS NOT NULL)),
    ADD CONSTRAINT "deposits_shortfall_check" CHECK (
        "shortfall" >= 0 AND "written_off" >= 0 AND "shortfall" + "written_off" <= "amount" AND ("status" = 'FROZEN' OR "shortfall" + "written_off" = 0));
