-- DropIndex
DROP INDEX "orders_buyer_id_id_idx";

-- AlterTable
-- Nothing is written anew: a column that gets more digits keeps its rows and its indexes as they are.
ALTER TABLE "orders" ALTER COLUMN "created_at" SET DATA TYPE TIMESTAMPTZ(6);

-- AlterTable
ALTER TABLE "transfers" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();

-- AlterTable
ALTER TABLE "events" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();

-- CreateIndex
-- Reads go on meanwhile, writes of orders wait: on a large table it is made before (docs/operations.md).
CREATE INDEX IF NOT EXISTS "orders_buyer_id_created_at_id_idx" ON "orders"("buyer_id", "created_at" DESC, "id" DESC);

-- From here on: what Prisma's language cannot say.

-- Identifiers for the next transfers of a wallet, ascending, and above those of all transfers it has: a statement goes by
-- them. Called where the wallet's row is held, so that they are in the order in which its balance changed, whatever any
-- clock says: also where transfers from before this were named by a gateway whose clock was ahead, or where the database
-- has moved to a machine whose clock is behind. It looks anew (VOLATILE): a statement that waited for the wallet's row
-- would otherwise see its entries as they were before it waited.
CREATE FUNCTION "next_transfer_ids"("wallet" uuid, "count" integer DEFAULT 1) RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest uuid := (SELECT e.transfer_id FROM entries e WHERE e.wallet_id = wallet ORDER BY e.transfer_id DESC LIMIT 1);
    ids uuid[] := '{}';
BEGIN
    FOR i IN 1..count LOOP
        ids[i] := uuidv7();
        IF ids[i] <= newest THEN
            ids[i] := coalesce(uuidv7(uuid_extract_timestamp(newest) - pg_catalog.clock_timestamp() + interval '1 millisecond'), ids[i]);
        END IF;
        newest := ids[i];
    END LOOP;
    RETURN ids;
END $$;

-- The identifier of a wallet's next transfer, which changes its points by `change`: those of its grants are used, if it has
-- grants that expire. Called where the wallet's row was written, so that it is held.
CREATE FUNCTION "open_transfer"("wallet" uuid, "expires" boolean, "change" numeric, "at" timestamptz, "undone" uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    made uuid := (next_transfer_ids(wallet))[1];
BEGIN
    IF expires THEN
        PERFORM use_grants(wallet, change, at, made, undone);
    END IF;
    RETURN made;
END $$;

-- An identifier as callers see it (`session_01h2x…`), for what is named while it is written; `domain/ids.ts` is the same elsewhere.
CREATE FUNCTION "type_id"("prefix" text, "id" uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN prefix || '_' || (
    SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 5 * i + 1 FOR 5)::integer + 1, 1), '' ORDER BY i)
    FROM generate_series(0, 25) AS digit (i), (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS whole
);
