-- What contracts send on stands in no transaction: it is what an address holds more than what is known of it.
CREATE TABLE "spendings" (
    "transaction_hash" TEXT NOT NULL,
    "wallet_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,
    "block_number" INTEGER NOT NULL,

    CONSTRAINT "spendings_pkey" PRIMARY KEY ("transaction_hash")
);
CREATE INDEX "spendings_wallet_id_block_number_idx" ON "spendings"("wallet_id", "block_number");
CREATE INDEX "spendings_block_number_idx" ON "spendings"("block_number");
ALTER TABLE "spendings" ADD CONSTRAINT "spendings_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE TABLE "balance_marks" (
    "wallet_id" UUID NOT NULL,
    "block_number" INTEGER NOT NULL,
    "balance" DECIMAL(96,18) NOT NULL,

    CONSTRAINT "balance_marks_pkey" PRIMARY KEY ("wallet_id", "block_number")
);
ALTER TABLE "balance_marks" ADD CONSTRAINT "balance_marks_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;
