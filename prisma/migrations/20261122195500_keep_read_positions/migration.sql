-- How far a replica must have come before it is asked for somebody. What is in it matters for seconds: it is not written ahead, and
-- empty after a crash, which its first row tells: from then on everybody must see what was written before the table was found empty.
CREATE UNLOGGED TABLE "read_positions" (
    "user_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT "read_positions_pkey" PRIMARY KEY ("user_id")
);

-- Each timeline of the database that was written to: a replica that does not know the newest follows another one.
CREATE TABLE "timelines" (
    "timeline" INTEGER NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT "timelines_pkey" PRIMARY KEY ("timeline")
);

-- How often something was taken out of the sight of others, in parts so that nobody waits for anybody.
CREATE TABLE "withdrawals_of_sight" (
    "part" INTEGER NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "withdrawals_of_sight_pkey" PRIMARY KEY ("part")
) WITH (fillfactor = 50);

-- Once for each transaction, when it ends: whoever waits for a part holds up nobody but those who commit just then.
CREATE FUNCTION "note_withdrawal_of_sight"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('annal.withdrawn_from_sight', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    PERFORM set_config('annal.withdrawn_from_sight', pg_current_xact_id()::text, true);
    INSERT INTO withdrawals_of_sight AS w (part, count) VALUES (pg_backend_pid() % 32, 1)
    ON CONFLICT (part) DO UPDATE SET count = w.count + 1;
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "assets_withdrawn_from_sight" AFTER UPDATE ON "assets" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.public_access AND NOT NEW.public_access OR OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION "note_withdrawal_of_sight"();
CREATE CONSTRAINT TRIGGER "users_withdrawn_from_sight" AFTER UPDATE ON "users" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
  EXECUTE FUNCTION "note_withdrawal_of_sight"();
