-- Who writes these waits from here to the end of this. In the order in which gathering and crediting lock them: nobody who has one of them waits for
-- another that is locked here.
LOCK TABLE "coin_moves", "wallets", "deposits" IN SHARE ROW EXCLUSIVE MODE;

-- What lies at the addresses of wallets by the books: those with enough to be gathered are found without a look at all that came in.
CREATE TABLE "lying_coins" (
    "wallet_id" UUID NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,

    CONSTRAINT "lying_coins_pkey" PRIMARY KEY ("wallet_id")
);

-- AddForeignKey
ALTER TABLE "lying_coins" ADD CONSTRAINT "lying_coins_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say.
CREATE INDEX "lying_coins_amount_idx" ON "lying_coins" ("amount") WHERE "amount" > 0;

CREATE FUNCTION "note_lying"("wallet" UUID, "more" NUMERIC) RETURNS void LANGUAGE sql AS $$
    INSERT INTO "lying_coins" ("wallet_id", "amount") SELECT "wallet", "more" WHERE "more" <> 0
    ON CONFLICT ("wallet_id") DO UPDATE SET "amount" = "lying_coins"."amount" + excluded."amount";
$$;

-- The wallet is locked by whoever credits, freezes, signs or sets aside: nobody else is at its row meanwhile.
CREATE FUNCTION "note_deposit_lying"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "before" NUMERIC := 0;
    "after" NUMERIC := 0;
BEGIN
    IF TG_OP <> 'INSERT' AND OLD."kind" <> 'TOKEN' AND OLD."status" = 'CREDITED' THEN
        "before" := OLD."amount";
    END IF;
    IF TG_OP <> 'DELETE' AND NEW."kind" <> 'TOKEN' AND NEW."status" = 'CREDITED' THEN
        "after" := NEW."amount";
    END IF;
    PERFORM "note_lying"(coalesce(NEW."wallet_id", OLD."wallet_id"), "after" - "before");
    RETURN NULL;
END $$;

CREATE FUNCTION "note_move_lying"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    "before" NUMERIC := 0;
    "after" NUMERIC := 0;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD."stranded_at" IS NULL THEN
        "before" := OLD."amount";
    END IF;
    IF NEW."stranded_at" IS NULL THEN
        "after" := NEW."amount";
    END IF;
    PERFORM "note_lying"(w."user_id", "before" - "after") FROM "wallets" w WHERE w."address" = NEW."sender";
    RETURN NULL;
END $$;

-- What was written before is added up, and what comes after is noted.
CREATE TRIGGER "deposits_note_lying" AFTER INSERT OR DELETE ON "deposits"
  FOR EACH ROW EXECUTE FUNCTION "note_deposit_lying"();
CREATE TRIGGER "deposits_note_change" AFTER UPDATE ON "deposits" FOR EACH ROW
  WHEN ((OLD."status", OLD."amount") IS DISTINCT FROM (NEW."status", NEW."amount")) EXECUTE FUNCTION "note_deposit_lying"();
CREATE TRIGGER "coin_moves_note_lying" AFTER INSERT ON "coin_moves"
  FOR EACH ROW EXECUTE FUNCTION "note_move_lying"();
CREATE TRIGGER "coin_moves_note_change" AFTER UPDATE ON "coin_moves" FOR EACH ROW
  WHEN ((OLD."stranded_at" IS NULL, OLD."amount") IS DISTINCT FROM (NEW."stranded_at" IS NULL, NEW."amount")) EXECUTE FUNCTION "note_move_lying"();

INSERT INTO "lying_coins" ("wallet_id", "amount")
SELECT "wallet_id", sum("amount") FROM (
    SELECT d."wallet_id", d."amount" FROM "deposits" d WHERE d."kind" <> 'TOKEN' AND d."status" = 'CREDITED'
    UNION ALL
    SELECT w."user_id", -m."amount" FROM "coin_moves" m JOIN "wallets" w ON w."address" = m."sender" WHERE m."stranded_at" IS NULL
) lying GROUP BY "wallet_id";
