-- Balances of wallets after some of their transfers: from the nearest one a page of a statement counts, however far back it is. No foreign
-- key: what refers to a wallet is the entry beside it, and adding one would hold everybody's wallets.
CREATE TABLE "statement_balances" (
    "wallet_id" UUID NOT NULL,
    "transfer_id" UUID NOT NULL,
    "num" DECIMAL(38,18) NOT NULL,
    "points" DECIMAL(38,18) NOT NULL,

    CONSTRAINT "statement_balances_pkey" PRIMARY KEY ("wallet_id", "transfer_id")
);

-- From here on: what Prisma's language cannot say.
CREATE TRIGGER "statement_balances_append_only" BEFORE UPDATE OR DELETE ON "statement_balances"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "statement_balances_no_truncate" BEFORE TRUNCATE ON "statement_balances"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- Which transfers: one of 256, by the last bits of its identifier, which are random. Nobody has to count them, or to know of others.
CREATE FUNCTION "notes_balance"("transfer" UUID) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN get_byte(uuid_send("transfer"), 15) = 0;

-- At the end of the transaction, when the wallet has what its entries say. Its row is held, and what follows is named above all
-- that the wallet has (`open_transfer`): the balance after a transfer is the same for ever.
CREATE FUNCTION "note_balance"() RETURNS trigger LANGUAGE plpgsql SET "enable_seqscan" = off AS $$
BEGIN
    INSERT INTO "statement_balances" ("wallet_id", "transfer_id", "num", "points")
    SELECT w."user_id", NEW."transfer_id", w."num" - newer."num", w."points" - newer."points"
    FROM "wallets" w, LATERAL (
        SELECT coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'NUM'), 0) AS "num",
            coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'POINTS'), 0) AS "points"
        FROM "entries" e WHERE e."wallet_id" = w."user_id" AND e."transfer_id" > NEW."transfer_id"
    ) newer
    WHERE w."user_id" = NEW."wallet_id"
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- Of wallets from before this, in the order of wallets and their transfers, by `note_earlier_balances`.
CREATE TABLE "migration_progress" (
    "migration" TEXT PRIMARY KEY,
    "done" BIGINT NOT NULL DEFAULT 0,
    "total" BIGINT NOT NULL,
    -- The transfer up to which it is done, and the balance after it.
    "wallet_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "transfer_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "num" NUMERIC NOT NULL DEFAULT 0,
    "points" NUMERIC NOT NULL DEFAULT 0
);
INSERT INTO "migration_progress" ("migration", "total")
SELECT '20261122231600_note_earlier_balances', count(*) FROM "entries" WHERE "wallet_id" IS NOT NULL;

-- Notes balances among the next transfers, at most so many, and says whether it wants to be called again. It waits for nobody and holds nothing:
-- entries never change, and what is written meanwhile is noted by the trigger.
CREATE FUNCTION "note_earlier_balances"("most" INTEGER) RETURNS BOOLEAN LANGUAGE plpgsql SET "enable_seqscan" = off AS $$
DECLARE
    "start" "migration_progress";
    "last" RECORD;
BEGIN
    SELECT * INTO "start" FROM "migration_progress" FOR UPDATE;
    WITH "lines" AS MATERIALIZED (
        SELECT e."wallet_id", e."transfer_id", count(*) AS "entries",
            coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'NUM'), 0) AS "num",
            coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'POINTS'), 0) AS "points"
        FROM "entries" e
        WHERE e."wallet_id" IS NOT NULL AND (e."wallet_id", e."transfer_id") > ("start"."wallet_id", "start"."transfer_id")
        GROUP BY e."wallet_id", e."transfer_id" ORDER BY e."wallet_id", e."transfer_id" LIMIT "most"
    ), "running" AS MATERIALIZED (
        SELECT l."wallet_id", l."transfer_id",
            sum(l."num") OVER "up" + CASE WHEN l."wallet_id" = "start"."wallet_id" THEN "start"."num" ELSE 0 END AS "num",
            sum(l."points") OVER "up" + CASE WHEN l."wallet_id" = "start"."wallet_id" THEN "start"."points" ELSE 0 END AS "points"
        FROM "lines" l WINDOW "up" AS (PARTITION BY l."wallet_id" ORDER BY l."transfer_id")
    ), "noted" AS (
        INSERT INTO "statement_balances" ("wallet_id", "transfer_id", "num", "points")
        SELECT * FROM "running" r WHERE "notes_balance"(r."transfer_id")
        ON CONFLICT DO NOTHING
    )
    SELECT r.*, (SELECT sum("entries") FROM "lines") AS "entries" INTO "last"
    FROM "running" r ORDER BY r."wallet_id" DESC, r."transfer_id" DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE "migration_progress" SET "done" = "done" + "last"."entries", "wallet_id" = "last"."wallet_id",
        "transfer_id" = "last"."transfer_id", "num" = "last"."num", "points" = "last"."points";
    RETURN true;
END $$;

-- Last, because who writes entries waits from here to the end of this.
CREATE CONSTRAINT TRIGGER "entries_note_balance" AFTER INSERT ON "entries" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW."wallet_id" IS NOT NULL AND "notes_balance"(NEW."transfer_id")) EXECUTE FUNCTION "note_balance"();
