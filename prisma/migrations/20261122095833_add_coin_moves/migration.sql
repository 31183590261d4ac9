-- CreateEnum
CREATE TYPE "coin_move_kind" AS ENUM ('GATHERING', 'WITHDRAWAL');

-- CreateEnum
CREATE TYPE "coin_move_status" AS ENUM ('SIGNED', 'BROADCAST', 'INCLUDED', 'FINAL', 'FAILED');

-- AlterEnum
ALTER TYPE "book" ADD VALUE 'UNDER_WAY';
ALTER TYPE "book" ADD VALUE 'TREASURY';

-- AlterTable
ALTER TABLE "deposits" ADD COLUMN     "gathered_by" UUID;

-- CreateTable
CREATE TABLE "coin_moves" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "kind" "coin_move_kind" NOT NULL,
    "sender" TEXT NOT NULL,
    "nonce" INTEGER NOT NULL,
    "recipient" TEXT NOT NULL,
    "wallet_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,
    "status" "coin_move_status" NOT NULL DEFAULT 'SIGNED',
    "transaction_hash" TEXT NOT NULL,
    "block_number" INTEGER,
    "block_hash" TEXT,
    "arrived" DECIMAL(38,18),
    "fee" DECIMAL(38,18),
    "settlements" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "coin_moves_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "coin_transactions" (
    "hash" TEXT NOT NULL,
    "move_id" UUID NOT NULL,
    "raw" BYTEA NOT NULL,
    "gas_price" DECIMAL(38,0) NOT NULL,
    "value" DECIMAL(38,18) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "coin_transactions_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE INDEX "coin_moves_wallet_id_idx" ON "coin_moves"("wallet_id");

-- CreateIndex
CREATE UNIQUE INDEX "coin_moves_sender_nonce_key" ON "coin_moves"("sender", "nonce");

-- CreateIndex
CREATE INDEX "coin_transactions_move_id_idx" ON "coin_transactions"("move_id");

-- AddForeignKey
ALTER TABLE "deposits" ADD CONSTRAINT "deposits_gathered_by_fkey" FOREIGN KEY ("gathered_by") REFERENCES "coin_moves"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "coin_moves" ADD CONSTRAINT "coin_moves_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "coin_transactions" ADD CONSTRAINT "coin_transactions_move_id_fkey" FOREIGN KEY ("move_id") REFERENCES "coin_moves"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.

-- What is not settled is next to nothing, and what came in and was not gathered yet is little.
CREATE INDEX "coin_moves_open_idx" ON "coin_moves" ("sender", "nonce") WHERE "status" IN ('SIGNED', 'BROADCAST', 'INCLUDED');
-- What is settled is looked at for as long as its block is young.
CREATE INDEX "coin_moves_block_number_idx" ON "coin_moves" ("block_number") WHERE "block_number" IS NOT NULL;
CREATE INDEX "deposits_lying_idx" ON "deposits" ("wallet_id") WHERE "gathered_by" IS NULL;

ALTER TABLE "coin_moves" ADD CONSTRAINT "coin_moves_amounts" CHECK ("amount" > 0 AND "arrived" >= 0 AND "fee" >= 0 AND "nonce" >= 0);

-- Whatever was signed may stand on the chain one day: it is never forgotten.
CREATE TRIGGER "coin_moves_no_delete" BEFORE DELETE ON "coin_moves"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "coin_transactions_no_change" BEFORE UPDATE OR DELETE ON "coin_transactions"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "coin_transactions_no_truncate" BEFORE TRUNCATE ON "coin_transactions"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
