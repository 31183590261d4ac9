-- What `prepare.sql` left, which is nothing, unless Prisma's engine applies this: it knows nothing of preparations.
DO $$ BEGIN
    WHILE "tell_earlier_blame"(100000) LOOP END LOOP;
END $$;
DROP FUNCTION "tell_earlier_blame"(INTEGER);
DROP TABLE "migration_progress";
ALTER TABLE "commits" ALTER COLUMN "blame" SET NOT NULL, ALTER COLUMN "blame" SET DEFAULT '{}';

-- Nothing is to be told later any more.
CREATE OR REPLACE FUNCTION "tell_blame"() RETURNS trigger LANGUAGE plpgsql SET "enable_seqscan" = off AS $$
BEGIN
    NEW."blame" := "blame_after"(
        coalesce((SELECT "blame" FROM "commits" WHERE "asset_id" = NEW."asset_id" AND "sequence" = NEW."sequence" - 1), '{}'),
        NEW."changes", NEW."sequence");
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION "refuse_commit_update"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erased "commits" := OLD;
BEGIN
    erased."message" := '';
    erased."changes" := '{}';
    erased."tree" := '';
    erased."blame" := '{}';
    NEW."blame" := '{}';
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on commits is refused: a commit can only be erased (message, changes, tree and blame emptied)'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;
