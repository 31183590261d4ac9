-- What a sweep could not do with an item, and when it tries again. Shared by all processes, by the database's clock.
CREATE TABLE "setbacks" (
    "sweep" TEXT NOT NULL,
    "item" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "trouble" TEXT NOT NULL,

    CONSTRAINT "setbacks_pkey" PRIMARY KEY ("sweep", "item")
);

-- A history may be too long to be erased by one statement: up to which of its commits it is.
ALTER TABLE "assets" ADD COLUMN "erased_to" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "assets_unerased_idx" ON "assets" ("id") WHERE "deleted_at" IS NOT NULL AND "erased_to" < "head_sequence";

-- What sweeps look for is found without reading what is done already.
CREATE INDEX "audit_entries_addressed_idx" ON "audit_entries" ("user_id", "id") WHERE "address" IS NOT NULL;
CREATE INDEX "orders_buyer_arguments_idx" ON "orders" ("buyer_id", "id") WHERE "action_args" IS NOT NULL;
CREATE INDEX "access_tokens_expires_at_id_idx" ON "access_tokens" ("expires_at", "id");
