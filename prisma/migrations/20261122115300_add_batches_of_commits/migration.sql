-- Several commits may share a transaction, and with it lane and nonce; each has its place in it. What one cost stands on it.
-- AlterTable
ALTER TABLE "commit_relays" ADD COLUMN IF NOT EXISTS "position" SMALLINT NOT NULL DEFAULT 0,
ADD COLUMN "gas_used" INTEGER,
ADD COLUMN "fee_paid" DECIMAL(38,0);

-- The same index may have been built before, while the service ran (docs/operations.md).
-- CreateIndex
CREATE UNIQUE INDEX IF NOT EXISTS "commit_relays_lane_nonce_position_key" ON "commit_relays"("lane", "nonce", "position");

-- DropIndex
DROP INDEX "commit_relays_lane_nonce_key";

-- CreateTable
CREATE TABLE "chain_transaction_members" (
    "commit_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "position" SMALLINT NOT NULL,

    CONSTRAINT "chain_transaction_members_pkey" PRIMARY KEY ("commit_id","hash")
);

-- CreateIndex
CREATE INDEX "chain_transaction_members_hash_idx" ON "chain_transaction_members"("hash");

-- AddForeignKey
ALTER TABLE "chain_transaction_members" ADD CONSTRAINT "chain_transaction_members_commit_id_fkey" FOREIGN KEY ("commit_id") REFERENCES "commit_relays"("commit_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chain_transaction_members" ADD CONSTRAINT "chain_transaction_members_hash_fkey" FOREIGN KEY ("hash") REFERENCES "chain_transactions"("hash") ON DELETE RESTRICT ON UPDATE CASCADE;
