-- Where coins lie by the books, one row, for what is asked of all of them together: adding up the books takes longer with each deposit.
CREATE TABLE "coin_balances" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "at_addresses" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "under_way" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "in_treasury" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "shortfall" DECIMAL(38,18) NOT NULL DEFAULT 0,

    CONSTRAINT "coin_balances_pkey" PRIMARY KEY ("id")
);

-- From here on: what Prisma's language cannot say.
ALTER TABLE "coin_balances" ADD CONSTRAINT "coin_balances_one_row" CHECK ("id" = 1);
CREATE TRIGGER "coin_balances_stay" BEFORE DELETE ON "coin_balances"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "coin_balances_no_truncate" BEFORE TRUNCATE ON "coin_balances"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- At the end of the transaction, when it has all its other locks: who has this row waits for nobody.
CREATE FUNCTION "note_coins"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "coin_balances" SET
        "at_addresses" = "at_addresses" - CASE NEW."book" WHEN 'DEPOSITS' THEN NEW."amount" ELSE 0 END,
        "under_way" = "under_way" - CASE NEW."book" WHEN 'UNDER_WAY' THEN NEW."amount" ELSE 0 END,
        "in_treasury" = "in_treasury" - CASE NEW."book" WHEN 'TREASURY' THEN NEW."amount" ELSE 0 END,
        "shortfall" = "shortfall" - CASE NEW."book" WHEN 'SHORTFALL' THEN NEW."amount" ELSE 0 END;
    RETURN NULL;
END $$;

-- Who writes entries waits from here to the end of this: what they wrote before is added up, and what comes after is noted.
CREATE CONSTRAINT TRIGGER "entries_note_coins" AFTER INSERT ON "entries" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW."book" IN ('DEPOSITS', 'UNDER_WAY', 'TREASURY', 'SHORTFALL') AND NEW."currency" = 'NUM') EXECUTE FUNCTION "note_coins"();

INSERT INTO "coin_balances" ("at_addresses", "under_way", "in_treasury", "shortfall")
SELECT coalesce(-sum("amount") FILTER (WHERE "book" = 'DEPOSITS'), 0), coalesce(-sum("amount") FILTER (WHERE "book" = 'UNDER_WAY'), 0),
    coalesce(-sum("amount") FILTER (WHERE "book" = 'TREASURY'), 0), coalesce(-sum("amount") FILTER (WHERE "book" = 'SHORTFALL'), 0)
FROM "entries" WHERE "currency" = 'NUM' AND "book" IN ('DEPOSITS', 'UNDER_WAY', 'TREASURY', 'SHORTFALL');
