-- AlterTable
ALTER TABLE "coin_moves" ALTER COLUMN "wallet_id" DROP NOT NULL;

-- From here on: what Prisma's language cannot say.

-- Only a payment may be nobody's.
ALTER TABLE "coin_moves" ADD CONSTRAINT "coin_moves_wallet" CHECK ("wallet_id" IS NOT NULL OR "kind" = 'WITHDRAWAL');
