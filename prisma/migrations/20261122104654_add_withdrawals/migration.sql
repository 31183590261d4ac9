-- CreateEnum
CREATE TYPE "withdrawal_status" AS ENUM ('WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED');

-- AlterEnum
ALTER TYPE "book" ADD VALUE 'WITHDRAWALS';

-- CreateTable
CREATE TABLE "withdrawals" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "wallet_id" UUID NOT NULL,
    "recipient" TEXT NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,
    "fee" DECIMAL(38,18) NOT NULL,
    "gas_limit" INTEGER NOT NULL,
    "status" "withdrawal_status" NOT NULL DEFAULT 'WAITING',
    "move_id" UUID,
    "failure" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "withdrawals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "withdrawals_move_id_key" ON "withdrawals"("move_id");

-- CreateIndex
CREATE INDEX "withdrawals_wallet_id_id_idx" ON "withdrawals"("wallet_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "withdrawals" ADD CONSTRAINT "withdrawals_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawals" ADD CONSTRAINT "withdrawals_move_id_fkey" FOREIGN KEY ("move_id") REFERENCES "coin_moves"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.

CREATE INDEX "withdrawals_open_idx" ON "withdrawals" ("id") WHERE "status" IN ('WAITING', 'SENDING');
-- How much somebody withdrew lately.
CREATE INDEX "withdrawals_wallet_id_created_at_idx" ON "withdrawals" ("wallet_id", "created_at");

ALTER TABLE "withdrawals" ADD CONSTRAINT "withdrawals_amounts" CHECK ("amount" > 0 AND "fee" >= 0 AND "gas_limit" >= 21000),
    -- Nothing is sent without a move, and a move stands for what it was signed for.
    ADD CONSTRAINT "withdrawals_move" CHECK (CASE "status"
        WHEN 'WAITING' THEN "move_id" IS NULL
        WHEN 'CANCELLED' THEN "move_id" IS NULL
        WHEN 'FAILED' THEN true
        ELSE "move_id" IS NOT NULL
    END),
    ADD CONSTRAINT "withdrawals_settled" CHECK (("status" IN ('WAITING', 'SENDING')) = ("settled_at" IS NULL));

CREATE TRIGGER "withdrawals_no_delete" BEFORE DELETE ON "withdrawals"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
