-- AlterTable
ALTER TABLE "coin_moves" ADD COLUMN     "stranded_at" TIMESTAMPTZ(3);

-- From here on: what Prisma's language cannot say.

-- What was in no block when it was set aside, and is in none as long as that holds.
ALTER TABLE "coin_moves" ADD CONSTRAINT "coin_moves_stranded" CHECK ("stranded_at" IS NULL OR ("kind" = 'GATHERING' AND "status" IN ('SIGNED', 'BROADCAST')));
