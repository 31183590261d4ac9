-- What an asset said at any moment, and which commit set each of its fields, are asked of histories of any length (decision 36). So each
-- commit knows, of every field as `changes` names it, the sequence of the commit that set it last; of custom fields, key by key.
-- AlterTable
ALTER TABLE "commits" ADD COLUMN "blame" JSONB NOT NULL DEFAULT '{}';

-- What was set by `earlier`, and then by a commit with these changes. A custom key that was removed is in it no more, so it is
-- as large as what the asset says.
CREATE FUNCTION "blame_after"("earlier" JSONB, "changes" JSONB, "sequence" INTEGER) RETURNS JSONB
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT "earlier"
        || coalesce((SELECT jsonb_object_agg("field", "sequence") FROM jsonb_object_keys("changes") "field"), '{}')
        || CASE WHEN "changes" ? 'nit_commit_custom' THEN jsonb_build_object('nit_commit_custom',
            (coalesce("earlier" -> 'nit_commit_custom', '{}')
                - ARRAY(SELECT jsonb_object_keys("changes" #> '{nit_commit_custom,0}')))
            || coalesce((SELECT jsonb_object_agg("key", "sequence")
                FROM jsonb_object_keys("changes" #> '{nit_commit_custom,1}') "key"), '{}'))
        ELSE '{}' END
$$;

CREATE AGGREGATE "blame"("changes" JSONB, "sequence" INTEGER) (SFUNC = "blame_after", STYPE = JSONB, INITCOND = '{}');

-- The histories that there are.
ALTER TABLE "commits" DISABLE TRIGGER "commits_erase_only";
UPDATE "commits" SET "blame" = "told"."blame"
FROM (
    SELECT "id", "blame"("changes", "sequence") OVER (PARTITION BY "asset_id" ORDER BY "sequence") FROM "commits"
) "told"
WHERE "told"."id" = "commits"."id" AND "told"."blame" <> '{}';
DROP AGGREGATE "blame"(JSONB, INTEGER);
ALTER TABLE "commits" ENABLE TRIGGER "commits_erase_only";

-- Whoever writes a commit, it follows from the one before.
CREATE FUNCTION "tell_blame"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."blame" := "blame_after"(
        coalesce((SELECT "blame" FROM "commits" WHERE "asset_id" = NEW."asset_id" AND "sequence" = NEW."sequence" - 1), '{}'),
        NEW."changes", NEW."sequence");
    RETURN NEW;
END $$;

-- Changes that are no object are refused by their CHECK.
CREATE TRIGGER "commits_tell_blame" BEFORE INSERT ON "commits"
    FOR EACH ROW WHEN (jsonb_typeof(NEW."changes") = 'object') EXECUTE FUNCTION "tell_blame"();

-- What erases a commit erases this, too: keys may tell of a person.
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
