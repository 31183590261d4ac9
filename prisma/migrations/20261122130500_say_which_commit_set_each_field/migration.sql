-- What an asset said at any moment, and which commit set each of its fields, are asked of histories of any length (decision 36). So each
-- commit knows, of every field as `changes` names it, the sequence of the commit that set it last; of custom fields, key by key.
-- Commits from before, and those that follow one which does not know it, are told by `require_blame`: until then null.
ALTER TABLE "commits" ADD COLUMN "blame" JSONB;

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

-- Whoever writes a commit, it follows from the one before.
CREATE FUNCTION "tell_blame"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."blame" := "blame_after"(
        CASE NEW."sequence" WHEN 1 THEN '{}' ELSE (
            SELECT "blame" FROM "commits" WHERE "asset_id" = NEW."asset_id" AND "sequence" = NEW."sequence" - 1
        ) END,
        NEW."changes", NEW."sequence");
    RETURN NEW;
END $$;

-- Changes that are no object are refused by their CHECK.
CREATE TRIGGER "commits_tell_blame" BEFORE INSERT ON "commits"
    FOR EACH ROW WHEN (jsonb_typeof(NEW."changes") = 'object') EXECUTE FUNCTION "tell_blame"();

-- What erases a commit erases this, too: keys may tell of a person. What is null is told once.
CREATE OR REPLACE FUNCTION "refuse_commit_update"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erased "commits" := OLD;
BEGIN
    IF OLD."blame" IS NULL AND NEW."tree" = OLD."tree" THEN
        erased."blame" := NEW."blame";
    ELSE
        erased."message" := '';
        erased."changes" := '{}';
        erased."tree" := '';
        erased."blame" := '{}';
        NEW."blame" := '{}';
    END IF;
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on commits is refused: a commit can only be erased (message, changes, tree and blame emptied)'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;
