-- AlterTable
ALTER TABLE "wallets" ADD COLUMN     "open_orders" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "orders" ADD COLUMN     "action_args_erased_at" TIMESTAMPTZ(3);

-- From here on: what Prisma's language cannot say.

UPDATE "wallets" w SET "open_orders" = o."open"
FROM (SELECT "buyer_id", count(*)::int AS "open" FROM "orders" WHERE "status" = 'CREATED' GROUP BY "buyer_id") o
WHERE w."user_id" = o."buyer_id";

-- Arguments that nothing needs any more were kept until now.
UPDATE "orders" SET "action_args" = NULL, "action_args_erased_at" = now()
WHERE "action_args" IS NOT NULL AND "status" IN ('EXPIRED', 'CANCELLED', 'REFUNDED');

ALTER TABLE "wallets" ADD CONSTRAINT "wallets_open_orders_not_negative" CHECK ("open_orders" >= 0);
ALTER TABLE "orders" ADD CONSTRAINT "orders_erased_is_empty" CHECK ("action_args_erased_at" IS NULL OR "action_args" IS NULL);

-- The sweeper finds arguments whose time is over at once.
CREATE INDEX "orders_arguments_idx" ON "orders" ("settled_at") WHERE "action_args" IS NOT NULL AND "settled_at" IS NOT NULL;
