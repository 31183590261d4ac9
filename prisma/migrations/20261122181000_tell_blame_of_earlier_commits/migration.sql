-- Commits from before `say_which_commit_set_each_field` have no blame. They get it in batches, each a transaction of its own, while others go
-- on reading and writing; `require_blame` asks for as many as there are.
CREATE TABLE "migration_progress" (
    "migration" TEXT PRIMARY KEY,
    "done" BIGINT NOT NULL DEFAULT 0,
    "total" BIGINT NOT NULL,
    -- The commit up to which it is done, in the order of assets and their histories.
    "asset_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "sequence" INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "migration_progress" ("migration", "total")
SELECT '20261122181100_require_blame', count(*) FROM "commits" WHERE "blame" IS NULL;

-- Tells the next commits, at most so many, and says whether it wants to be called again. Who changes one of their assets waits until this
-- transaction ends: so a commit that follows them finds what it follows from, and none is passed over. In the end blame may be missing no more.
-- Whoever waits for this waits for two seconds at most, also where this has to wait for others: then it is tried again.
CREATE FUNCTION "tell_earlier_blame"("most" INTEGER) RETURNS BOOLEAN LANGUAGE plpgsql
SET "enable_seqscan" = off SET "lock_timeout" = '2s' AS $$
DECLARE
    "start" "migration_progress";
    "end" RECORD;
    "commit" RECORD;
    "asset" UUID;
    "running" JSONB;
    "ids" UUID[] := '{}';
    "blames" JSONB[] := '{}';
BEGIN
    SELECT * INTO "start" FROM "migration_progress" FOR UPDATE;
    SELECT "asset_id", "sequence" INTO "end" FROM (
        SELECT "asset_id", "sequence" FROM "commits"
        WHERE ("asset_id", "sequence") > ("start"."asset_id", "start"."sequence")
        ORDER BY "asset_id", "sequence" LIMIT "most"
    ) "next" ORDER BY "asset_id" DESC, "sequence" DESC LIMIT 1;
    IF "start"."total" = 0 OR NOT FOUND THEN
        -- Two transactions: the first has to have the table for itself for a moment, the second reads all of it beside others.
        IF NOT EXISTS (SELECT FROM "pg_constraint" WHERE "conname" = 'commits_blame_not_null') THEN
            ALTER TABLE "commits" ADD CONSTRAINT "commits_blame_not_null" NOT NULL "blame" NOT VALID;
            RETURN true;
        END IF;
        ALTER TABLE "commits" VALIDATE CONSTRAINT "commits_blame_not_null";
        RETURN false;
    END IF;
    PERFORM FROM "assets" WHERE "id" BETWEEN "start"."asset_id" AND "end"."asset_id" ORDER BY "id" FOR NO KEY UPDATE;

    "asset" := "start"."asset_id";
    SELECT "blame" INTO "running" FROM "commits" WHERE "asset_id" = "asset" AND "sequence" = "start"."sequence";
    FOR "commit" IN
        SELECT "id", "asset_id", "sequence", "changes", "blame", "tree" = '' AS "is_erased" FROM "commits"
        WHERE ("asset_id", "sequence") > ("start"."asset_id", "start"."sequence")
            AND ("asset_id", "sequence") <= ("end"."asset_id", "end"."sequence")
        ORDER BY "asset_id", "sequence"
    LOOP
        IF "commit"."asset_id" <> "asset" THEN
            "asset" := "commit"."asset_id";
            "running" := '{}';
        END IF;
        "running" := CASE
            WHEN "commit"."is_erased" THEN '{}'
            ELSE coalesce("commit"."blame", "blame_after"("running", "commit"."changes", "commit"."sequence"))
        END;
        IF "commit"."blame" IS NULL THEN
            "ids" := "ids" || "commit"."id";
            "blames" := "blames" || "running";
        END IF;
    END LOOP;
    UPDATE "commits" SET "blame" = "told"."blame" FROM unnest("ids", "blames") "told" ("id", "blame")
    WHERE "commits"."id" = "told"."id" AND "commits"."blame" IS NULL;
    UPDATE "migration_progress"
    SET "done" = "done" + cardinality("ids"), "asset_id" = "end"."asset_id", "sequence" = "end"."sequence";
    RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    RETURN true;
END $$;
