-- AlterTable
ALTER TABLE "orders" ADD COLUMN     "num_refunded" DECIMAL(38,18) NOT NULL DEFAULT 0,
ADD COLUMN     "points_refunded" DECIMAL(38,18) NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "refunds" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "order_id" UUID NOT NULL,
    "transfer_id" UUID NOT NULL,
    "points" DECIMAL(38,18) NOT NULL,
    "num" DECIMAL(38,18) NOT NULL,
    "points_before" DECIMAL(38,18) NOT NULL,
    "num_before" DECIMAL(38,18) NOT NULL,
    "reason" TEXT NOT NULL DEFAULT '',
    "refunded_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "refunds_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "refunds_transfer_id_key" ON "refunds"("transfer_id");

-- CreateIndex
CREATE UNIQUE INDEX "refunds_order_id_num_before_points_before_key" ON "refunds"("order_id", "num_before", "points_before");

-- AddForeignKey
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_order_id_fkey" FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "transfers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.

-- Orders whose webhook was given up got all of it back.
INSERT INTO "refunds" ("order_id", "transfer_id", "points", "num", "points_before", "num_before", "created_at")
SELECT o."id", t."id", o."points_paid", o."num_paid", 0, 0, t."created_at"
FROM "orders" o JOIN "transfers" t ON t."reference" = 'order-refund:' || o."id" WHERE o."status" = 'REFUNDED';

UPDATE "orders" SET "points_refunded" = "points_paid", "num_refunded" = "num_paid" WHERE "status" = 'REFUNDED';

-- Never more than was paid, however many refunds there are; and an order is refunded exactly when nothing of it is left.
ALTER TABLE "orders"
    ADD CONSTRAINT "orders_refunded_at_most_paid" CHECK ("points_refunded" BETWEEN 0 AND "points_paid" AND "num_refunded" BETWEEN 0 AND "num_paid"),
    ADD CONSTRAINT "orders_refunded_with_status" CHECK (CASE "status"
        WHEN 'REFUNDED' THEN "points_refunded" + "num_refunded" = "price"
        ELSE "points_refunded" + "num_refunded" < "price" OR "price" = 0
    END);

ALTER TABLE "refunds" ADD CONSTRAINT "refunds_amount_not_negative" CHECK ("points" >= 0 AND "num" >= 0 AND "points_before" >= 0 AND "num_before" >= 0);

CREATE FUNCTION "refuse_refund_update"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erased "refunds" := OLD;
BEGIN
    erased."reason" := '';
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on refunds is refused: only the reason can be erased'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER "refunds_erase_only" BEFORE UPDATE ON "refunds"
    FOR EACH ROW EXECUTE FUNCTION "refuse_refund_update"();
CREATE TRIGGER "refunds_no_delete" BEFORE DELETE ON "refunds"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "refunds_no_truncate" BEFORE TRUNCATE ON "refunds"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- What was served, or failed, may be given back by an administrator.
CREATE OR REPLACE FUNCTION "refuse_order_step"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."status" = OLD."status" OR (CASE OLD."status"
        WHEN 'CREATED' THEN NEW."status" IN ('PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED')
        WHEN 'PENDING' THEN NEW."status" IN ('SUCCESS', 'FAILURE', 'REFUNDED')
        WHEN 'SUCCESS' THEN NEW."status" = 'REFUNDED'
        WHEN 'FAILURE' THEN NEW."status" IN ('SUCCESS', 'REFUNDED')
        ELSE false
    END) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'An order does not go from % to %', OLD."status", NEW."status"
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

-- As before, but an order may be given back in parts: a grant gets back what the charge took of it, less what earlier
-- refunds of the same charge gave back to it.
CREATE OR REPLACE FUNCTION "use_grants"("wallet" uuid, "change" numeric, "at" timestamptz, "transfer" uuid, "undone" uuid DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    rest numeric := abs(change);
    lot record;
    units numeric;
BEGIN
    FOR lot IN
        SELECT g.id, CASE WHEN change < 0 THEN g.remaining ELSE (
            SELECT u.amount + coalesce((
                SELECT sum(given.amount) FROM orders o JOIN refunds r ON r.order_id = o.id
                JOIN grant_uses given ON given.transfer_id = r.transfer_id AND given.grant_id = g.id
                WHERE o.transfer_id = undone
            ), 0)
            FROM grant_uses u WHERE u.transfer_id = undone AND u.grant_id = g.id
        ) END AS units
        FROM point_grants g
        WHERE g.wallet_id = wallet AND g.expires_at IS NOT NULL AND g.expired_at IS NULL AND g.expires_at > at
        ORDER BY CASE WHEN change < 0 THEN g.expires_at END, g.expires_at DESC, g.id
    LOOP
        EXIT WHEN rest <= 0;
        units := least(rest, lot.units);
        CONTINUE WHEN coalesce(units, 0) <= 0;
        rest := rest - units;
        UPDATE point_grants SET remaining = remaining + units * sign(change) WHERE id = lot.id;
        INSERT INTO grant_uses (grant_id, transfer_id, amount) VALUES (lot.id, transfer, -units * sign(change));
    END LOOP;
END $$;
