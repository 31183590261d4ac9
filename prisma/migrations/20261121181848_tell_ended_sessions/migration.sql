-- Whoever follows a stream of events with a session or an API key must stop at once when it ends, in whichever process and
-- by whatever statement that happens. Sent with the commit; processes that serve streams listen (platform/event-notices.ts).
CREATE FUNCTION "tell_ended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('annal_ended', OLD."id"::text);
    RETURN NULL;
END $$;

CREATE TRIGGER "access_tokens_tell_ended" AFTER DELETE ON "access_tokens"
    FOR EACH ROW EXECUTE FUNCTION "tell_ended"();
CREATE TRIGGER "api_keys_tell_ended" AFTER UPDATE OF "revoked_at" ON "api_keys"
    FOR EACH ROW WHEN (OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL) EXECUTE FUNCTION "tell_ended"();
CREATE TRIGGER "api_keys_tell_deleted" AFTER DELETE ON "api_keys"
    FOR EACH ROW EXECUTE FUNCTION "tell_ended"();
