-- The same blame, told quicker: in PL/pgSQL, which keeps the plans of its parts for the session.
CREATE OR REPLACE FUNCTION "blame_after"("earlier" JSONB, "changes" JSONB, "sequence" INTEGER) RETURNS JSONB
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    "custom" JSONB;
BEGIN
    IF "changes" ? 'nit_commit_custom' THEN
        "custom" := (coalesce("earlier" -> 'nit_commit_custom', '{}')
                - ARRAY(SELECT jsonb_object_keys("changes" #> '{nit_commit_custom,0}')))
            || coalesce((SELECT jsonb_object_agg("key", "sequence")
                FROM jsonb_object_keys("changes" #> '{nit_commit_custom,1}') "key"), '{}');
        "earlier" := jsonb_set("earlier", '{nit_commit_custom}', "custom");
        "changes" := "changes" - 'nit_commit_custom';
    END IF;
    RETURN "earlier"
        || coalesce((SELECT jsonb_object_agg("field", "sequence") FROM jsonb_object_keys("changes") "field"), '{}');
END $$;

-- A plan that was made while there were few commits would read all of them for as long as the session lasts.
ALTER FUNCTION "tell_blame"() SET "enable_seqscan" = off;
