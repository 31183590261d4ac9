-- Deposits that were found and could not be credited yet. The scan goes on without them, and a sweep tries them again.
CREATE TABLE "set_aside_deposits" (
    "transaction_hash" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "amount" TEXT NOT NULL,
    "block_number" INTEGER NOT NULL,
    "block_hash" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "set_aside_deposits_pkey" PRIMARY KEY ("transaction_hash")
);
CREATE INDEX "set_aside_deposits_created_at_transaction_hash_idx" ON "set_aside_deposits" ("created_at", "transaction_hash");
