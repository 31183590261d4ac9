-- What happened in ten minutes, counted once they are over: figures of the service do not count it again. What happened before this is counted
-- by the loop of the new version, the newest first, and until then whenever it is asked for.
CREATE TABLE "kept_figures" (
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "revenue_num" DECIMAL(38,18) NOT NULL,
    "revenue_points" DECIMAL(38,18) NOT NULL,
    "orders_made" INTEGER NOT NULL,
    "orders_paid" INTEGER NOT NULL,
    "refunds" INTEGER NOT NULL,
    "commits" INTEGER NOT NULL,
    "lags" JSONB NOT NULL,
    "deliveries" INTEGER NOT NULL,
    "given_up" INTEGER NOT NULL DEFAULT 0,
    "sign_ups" INTEGER NOT NULL,

    CONSTRAINT "kept_figures_pkey" PRIMARY KEY ("starts_at")
);

-- Webhook calls that are not delivered, among many that are. It may have been built before, while the service ran (docs/operations.md).
CREATE INDEX IF NOT EXISTS "webhook_deliveries_undelivered_idx" ON "webhook_deliveries" ("id") WHERE "status" <> 'DELIVERED';
