-- What `prepare.sql` left, which is nothing, unless Prisma's engine applies this: it knows nothing of preparations.
DO $$ BEGIN
    WHILE "note_earlier_balances"(100000) LOOP END LOOP;
END $$;
DROP FUNCTION "note_earlier_balances"(INTEGER);
DROP TABLE "migration_progress";
