-- A delivery is forgotten before the events that tell of it; those keep its identifier.
ALTER TABLE "events" DROP CONSTRAINT "events_delivery_id_fkey";

-- Mailed secrets that ended are forgotten, the oldest first.
CREATE INDEX "one_time_tokens_expires_at_idx" ON "one_time_tokens"("expires_at");

-- Feeds are forgotten from their beginning, after the days that the configuration says: never less than these.
CREATE FUNCTION "refuse_recent_deletion"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD."created_at" > now() - interval '30 days' THEN
        RAISE EXCEPTION 'DELETE on % is refused: its rows are kept for 30 days at least', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN OLD;
END $$;

DROP TRIGGER "events_append_only" ON "events";
CREATE TRIGGER "events_never_changed" BEFORE UPDATE ON "events"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "events_kept_for_long" BEFORE DELETE ON "events"
    FOR EACH ROW EXECUTE FUNCTION "refuse_recent_deletion"();
