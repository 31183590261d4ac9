-- CreateEnum
CREATE TYPE "price_mode" AS ENUM ('FIXED');

-- CreateEnum
CREATE TYPE "delivery_failure_policy" AS ENUM ('KEEP', 'REFUND');

-- CreateEnum
CREATE TYPE "order_status" AS ENUM ('CREATED', 'PENDING', 'SUCCESS', 'FAILURE', 'EXPIRED', 'CANCELLED', 'REFUNDED');

-- CreateEnum
CREATE TYPE "delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'GIVEN_UP');

-- AlterTable
ALTER TABLE "wallets" ADD COLUMN     "event_sequence" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "network_apps" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "owner_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "price_mode" "price_mode" NOT NULL DEFAULT 'FIXED',
    "price" DECIMAL(38,18) NOT NULL,
    "webhook_url" TEXT,
    "webhook_secret" BYTEA,
    "previous_secret" BYTEA,
    "previous_secret_expires_at" TIMESTAMPTZ(3),
    "webhook_disabled_at" TIMESTAMPTZ(3),
    "delivery_failure_policy" "delivery_failure_policy" NOT NULL DEFAULT 'KEEP',
    "deactivated_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "network_apps_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "orders" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "buyer_id" UUID NOT NULL,
    "network_app_id" UUID NOT NULL,
    "network_app_name" TEXT NOT NULL,
    "status" "order_status" NOT NULL DEFAULT 'CREATED',
    "action_args" BYTEA,
    "price" DECIMAL(38,18) NOT NULL,
    "quoted_points" DECIMAL(38,18) NOT NULL,
    "quoted_num" DECIMAL(38,18) NOT NULL,
    "points_paid" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "num_paid" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "transfer_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "paid_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "owner_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "order_id" UUID,
    "commit_id" UUID,
    "delivery_id" UUID,
    "transfer_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "event_id" UUID NOT NULL,
    "network_app_id" UUID NOT NULL,
    "order_id" UUID NOT NULL,
    "status" "delivery_status" NOT NULL DEFAULT 'PENDING',
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "duration" INTEGER NOT NULL,
    "status_code" INTEGER,
    "failure" TEXT,
    "response" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateTable
CREATE TABLE "deposits" (
    "transaction_hash" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "wallet_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,
    "block_number" INTEGER NOT NULL,
    "block_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deposits_pkey" PRIMARY KEY ("transaction_hash","position")
);

-- CreateTable
CREATE TABLE "point_grants" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "wallet_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,
    "reason" TEXT NOT NULL,
    "granted_by" UUID,
    "expires_at" TIMESTAMPTZ(3),
    "expired_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "point_grants_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "orders_transfer_id_key" ON "orders"("transfer_id");

-- CreateIndex
CREATE INDEX "network_apps_owner_id_idx" ON "network_apps"("owner_id");

-- CreateIndex
CREATE INDEX "orders_buyer_id_id_idx" ON "orders"("buyer_id", "id" DESC);

-- CreateIndex
CREATE INDEX "orders_network_app_id_id_idx" ON "orders"("network_app_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "events_owner_id_sequence_key" ON "events"("owner_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_event_id_key" ON "webhook_deliveries"("event_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_network_app_id_id_idx" ON "webhook_deliveries"("network_app_id", "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_deliveries_order_id_idx" ON "webhook_deliveries"("order_id");

-- CreateIndex
CREATE INDEX "deposits_wallet_id_idx" ON "deposits"("wallet_id");

-- CreateIndex
CREATE INDEX "point_grants_wallet_id_idx" ON "point_grants"("wallet_id");

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "transfers"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "network_apps" ADD CONSTRAINT "network_apps_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_buyer_id_fkey" FOREIGN KEY ("buyer_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_network_app_id_fkey" FOREIGN KEY ("network_app_id") REFERENCES "network_apps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_commit_id_fkey" FOREIGN KEY ("commit_id") REFERENCES "commits"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "transfers"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_network_app_id_fkey" FOREIGN KEY ("network_app_id") REFERENCES "network_apps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deposits" ADD CONSTRAINT "deposits_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "point_grants" ADD CONSTRAINT "point_grants_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.

-- "Upscale" and "upscale" are one app.
CREATE UNIQUE INDEX "network_apps_name_key" ON "network_apps" (lower("name"));

ALTER TABLE "network_apps"
    ADD CONSTRAINT "network_apps_price_not_negative" CHECK ("price" >= 0),
    ADD CONSTRAINT "network_apps_secret_with_url" CHECK ("webhook_url" IS NULL OR "webhook_secret" IS NOT NULL);

-- What an order says about money and time holds together: paid means charged in time, and exactly the frozen price.
ALTER TABLE "orders"
    ADD CONSTRAINT "orders_price_not_negative" CHECK ("price" >= 0),
    ADD CONSTRAINT "orders_quote_is_price" CHECK ("quoted_points" >= 0 AND "quoted_num" >= 0 AND "quoted_points" + "quoted_num" = "price"),
    ADD CONSTRAINT "orders_paid_with_status" CHECK (("paid_at" IS NOT NULL) = ("status" IN ('PENDING', 'SUCCESS', 'FAILURE', 'REFUNDED'))),
    ADD CONSTRAINT "orders_paid_with_charge" CHECK (("paid_at" IS NULL) = ("transfer_id" IS NULL)),
    ADD CONSTRAINT "orders_paid_is_price" CHECK ("points_paid" + "num_paid" = CASE WHEN "paid_at" IS NULL THEN 0 ELSE "price" END),
    ADD CONSTRAINT "orders_paid_in_time" CHECK ("paid_at" < "expires_at"),
    ADD CONSTRAINT "orders_settled_with_status" CHECK (("settled_at" IS NULL) = ("status" IN ('CREATED', 'PENDING')));

-- What may follow on what, as `domain/store/order-status.ts` says it; a test holds the two to each other.
CREATE FUNCTION "refuse_order_step"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."status" = OLD."status" OR (CASE OLD."status"
        WHEN 'CREATED' THEN NEW."status" IN ('PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED')
        WHEN 'PENDING' THEN NEW."status" IN ('SUCCESS', 'FAILURE', 'REFUNDED')
        WHEN 'FAILURE' THEN NEW."status" = 'SUCCESS'
        ELSE false
    END) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'An order does not go from % to %', OLD."status", NEW."status"
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER "orders_status_step" BEFORE UPDATE OF "status" ON "orders"
    FOR EACH ROW EXECUTE FUNCTION "refuse_order_step"();

-- The sweeper finds what has expired at once, however many orders are settled.
CREATE INDEX "orders_open_idx" ON "orders" ("expires_at") WHERE "status" = 'CREATED';

-- The event of a payment stands once in a feed.
CREATE UNIQUE INDEX "events_order_paid_key" ON "events" ("order_id", "owner_id") WHERE "type" = 'order.paid';

-- A feed is only ever added to: receivers read it by position.
CREATE TRIGGER "events_append_only" BEFORE UPDATE OR DELETE ON "events"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "events_no_truncate" BEFORE TRUNCATE ON "events"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

ALTER TABLE "webhook_deliveries"
    ADD CONSTRAINT "webhook_deliveries_settled_with_status" CHECK (("settled_at" IS NULL) = ("status" = 'PENDING')),
    ADD CONSTRAINT "webhook_deliveries_attempts_not_negative" CHECK ("attempt_count" >= 0);

ALTER TABLE "deposits" ADD CONSTRAINT "deposits_amount_positive" CHECK ("amount" > 0);
ALTER TABLE "point_grants" ADD CONSTRAINT "point_grants_amount_positive" CHECK ("amount" > 0);

-- Grants whose time may come.
CREATE INDEX "point_grants_expiring_idx" ON "point_grants" ("expires_at") WHERE "expires_at" IS NOT NULL AND "expired_at" IS NULL;

ALTER TABLE "orders" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
ALTER TABLE "webhook_deliveries" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
ALTER TABLE "events" SET (autovacuum_analyze_threshold = 20);
ALTER TABLE "network_apps" SET (autovacuum_analyze_threshold = 5);

-- Puts a job on the queue inside the transaction of its cause. The queue's tables are the job library's own and are
-- made at start-up (`platform/jobs.ts`); what a queue says about retries holds for its jobs.
CREATE FUNCTION "enqueue"("queue" text, "payload" jsonb, "lane" text DEFAULT NULL, "due" timestamptz DEFAULT now())
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    made uuid;
BEGIN
    INSERT INTO jobs.job (name, data, group_id, start_after, policy, retry_limit, retry_delay, retry_backoff,
        retry_delay_max, expire_seconds, deletion_seconds, keep_until, heartbeat_seconds, dead_letter)
    SELECT q.name, payload, lane, due, q.policy, q.retry_limit, q.retry_delay, q.retry_backoff,
        q.retry_delay_max, q.expire_seconds, q.deletion_seconds, due + make_interval(secs => q.retention_seconds), q.heartbeat_seconds, q.dead_letter
    FROM jobs.queue q WHERE q.name = queue
    RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is no job queue %', queue;
    END IF;
    RETURN made;
END $$;
