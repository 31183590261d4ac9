-- AlterTable
ALTER TABLE "wallets" ADD COLUMN     "points_expire_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "point_grants" ADD COLUMN     "remaining" DECIMAL(38,18);

-- CreateTable
CREATE TABLE "grant_uses" (
    "grant_id" UUID NOT NULL,
    "transfer_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,

    CONSTRAINT "grant_uses_pkey" PRIMARY KEY ("grant_id","transfer_id")
);

-- CreateIndex
CREATE INDEX "grant_uses_transfer_id_idx" ON "grant_uses"("transfer_id");

-- AddForeignKey
ALTER TABLE "grant_uses" ADD CONSTRAINT "grant_uses_grant_id_fkey" FOREIGN KEY ("grant_id") REFERENCES "point_grants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
-- Deferred: a statement that charges notes the uses before it writes the transfer.
ALTER TABLE "grant_uses" ADD CONSTRAINT "grant_uses_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "transfers"("id") ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED;

-- From here on: what Prisma's language cannot say.

-- What was spent of grants so far, as the rules were until now: what expires soonest went first, among what had not
-- expired; then what never expires; then what was overdue. A refund went back to where its points had come from, unless
-- that grant was closed. Only wallets that ever had an expiring grant are looked at, each transfer of theirs once.
DO $$
DECLARE
    wallet record;
    movement record;
    part record;
    ids uuid[];
    ends timestamptz[];
    is_closed boolean[];
    lefts numeric[];
    lasting numeric;
    rest numeric;
    units numeric;
    turn integer;
    i integer;
BEGIN
    FOR wallet IN
        SELECT w.user_id, w.points FROM wallets w
        WHERE EXISTS (SELECT FROM point_grants g WHERE g.wallet_id = w.user_id AND g.expires_at IS NOT NULL)
    LOOP
        SELECT array_agg(id ORDER BY expires_at, id), array_agg(expires_at ORDER BY expires_at, id),
            array_agg(false), array_agg(0::numeric)
        INTO ids, ends, is_closed, lefts
        FROM point_grants WHERE wallet_id = wallet.user_id AND expires_at IS NOT NULL;
        lasting := 0;
        FOR movement IN
            SELECT t.id, t.created_at, split_part(t.reference, ':', 1) AS kind, split_part(t.reference, ':', 2) AS subject, m.amount
            FROM (
                SELECT transfer_id, sum(amount) AS amount FROM entries
                WHERE wallet_id = wallet.user_id AND currency = 'POINTS' GROUP BY transfer_id
            ) m JOIN transfers t ON t.id = m.transfer_id
            ORDER BY t.created_at, t.id
        LOOP
            i := CASE WHEN movement.kind IN ('grant', 'grant-expiry') THEN array_position(ids::text[], movement.subject) END;
            IF i IS NOT NULL THEN
                lefts[i] := lefts[i] + movement.amount;
                IF movement.kind = 'grant-expiry' THEN
                    is_closed[i] := true;
                    INSERT INTO grant_uses VALUES (ids[i], movement.id, -movement.amount);
                END IF;
            ELSIF movement.amount < 0 THEN
                rest := -movement.amount;
                -- 1: what has not expired; 2: what never does; 3: what is overdue.
                FOR turn IN 1..3 LOOP
                    IF turn = 2 THEN
                        units := least(rest, greatest(lasting, 0));
                        lasting := lasting - units;
                        rest := rest - units;
                        CONTINUE;
                    END IF;
                    FOR i IN 1..cardinality(ids) LOOP
                        units := CASE WHEN (ends[i] > movement.created_at) = (turn = 1) THEN least(rest, lefts[i]) ELSE 0 END;
                        CONTINUE WHEN units <= 0;
                        lefts[i] := lefts[i] - units;
                        rest := rest - units;
                        INSERT INTO grant_uses VALUES (ids[i], movement.id, units);
                    END LOOP;
                END LOOP;
                lasting := lasting - rest;
            ELSE
                rest := movement.amount;
                FOR part IN
                    SELECT u.grant_id, u.amount FROM transfers t
                    JOIN grant_uses u ON u.transfer_id = t.id JOIN point_grants g ON g.id = u.grant_id
                    WHERE g.wallet_id = wallet.user_id AND t.reference = CASE movement.kind
                        WHEN 'refund' THEN 'commit:' WHEN 'order-refund' THEN 'order:' END || movement.subject
                    ORDER BY g.expires_at, g.id
                LOOP
                    i := array_position(ids, part.grant_id);
                    units := least(rest, part.amount);
                    CONTINUE WHEN is_closed[i] OR units <= 0;
                    lefts[i] := lefts[i] + units;
                    rest := rest - units;
                    INSERT INTO grant_uses VALUES (ids[i], movement.id, -units);
                END LOOP;
                lasting := lasting + rest;
            END IF;
        END LOOP;

        -- A grant never holds more than its wallet does, and a closed one nothing: what does not come out even, as where clocks
        -- told two movements in the wrong order, is put down to the grant's own transfer. What ends last gives first.
        rest := wallet.points;
        FOR i IN 1..cardinality(ids) LOOP
            units := CASE WHEN EXISTS (SELECT FROM point_grants WHERE id = ids[i] AND expired_at IS NOT NULL) THEN 0
                ELSE least(lefts[i], rest) END;
            rest := rest - units;
            INSERT INTO grant_uses SELECT ids[i], t.id, lefts[i] - units FROM transfers t
                WHERE t.reference = 'grant:' || ids[i] AND lefts[i] <> units;
            UPDATE point_grants SET remaining = units WHERE id = ids[i];
        END LOOP;
    END LOOP;
END $$;
SET CONSTRAINTS ALL IMMEDIATE;

UPDATE "wallets" w SET "points_expire_at" = g."soonest"
FROM (
    SELECT "wallet_id", min("expires_at") AS "soonest" FROM "point_grants"
    WHERE "expires_at" IS NOT NULL AND "expired_at" IS NULL GROUP BY "wallet_id"
) g WHERE w."user_id" = g."wallet_id";

ALTER TABLE "point_grants"
    ADD CONSTRAINT "point_grants_remaining_if_expiring" CHECK (("remaining" IS NULL) = ("expires_at" IS NULL)),
    ADD CONSTRAINT "point_grants_remaining_in_bounds" CHECK ("remaining" BETWEEN 0 AND "amount"),
    ADD CONSTRAINT "point_grants_nothing_left_if_closed" CHECK ("expired_at" IS NULL OR "remaining" = 0);
ALTER TABLE "grant_uses" ADD CONSTRAINT "grant_uses_amount_not_zero" CHECK ("amount" <> 0);

CREATE TRIGGER "grant_uses_append_only" BEFORE UPDATE OR DELETE ON "grant_uses"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "grant_uses_no_truncate" BEFORE TRUNCATE ON "grant_uses"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- The sweeper looks for wallets, and a wallet for its grants.
DROP INDEX "point_grants_expiring_idx";
CREATE INDEX "point_grants_open_idx" ON "point_grants" ("wallet_id", "expires_at") WHERE "expires_at" IS NOT NULL AND "expired_at" IS NULL;
CREATE INDEX "wallets_points_expire_idx" ON "wallets" ("points_expire_at", "user_id") WHERE "points_expire_at" IS NOT NULL;

ALTER TABLE "point_grants" SET (fillfactor = 85, autovacuum_analyze_threshold = 20);
ALTER TABLE "grant_uses" SET (autovacuum_analyze_threshold = 20);

-- Both functions are called for wallets with expiring grants only, and look anew (VOLATILE): a statement that waited for
-- the wallet's row would otherwise see the grants as they were before it waited. Whoever changes grants holds that row.

-- Points in a wallet that cannot be spent any more: of grants whose time is over and that the sweeper has not closed yet.
CREATE FUNCTION "overdue_points"("wallet" uuid, "at" timestamptz) RETURNS numeric LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT coalesce(sum(g.remaining), 0) FROM point_grants g
        WHERE g.wallet_id = wallet AND g.expires_at IS NOT NULL AND g.expired_at IS NULL AND g.expires_at <= at
    );
END $$;

-- Spends points of a wallet's grants (`change` below 0), those that expire soonest first; or gives back (above 0) what
-- `undone`, a charge, took of grants that are still valid. What is left over, either way, is of points that never expire.
-- Called where the wallet's row was written, so that it is held.
CREATE FUNCTION "use_grants"("wallet" uuid, "change" numeric, "at" timestamptz, "transfer" uuid, "undone" uuid DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    rest numeric := abs(change);
    lot record;
    units numeric;
BEGIN
    FOR lot IN
        SELECT g.id, CASE WHEN change < 0 THEN g.remaining ELSE (
            SELECT u.amount FROM grant_uses u WHERE u.transfer_id = undone AND u.grant_id = g.id
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
