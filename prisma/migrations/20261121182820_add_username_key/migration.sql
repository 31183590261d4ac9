-- Usernames are compared as people see them: without regard to case, width and composition, and without what is invisible
-- (Unicode's NFKC_Casefold, as RFC 8265 has it for usernames). `username` stays as it was typed.
CREATE FUNCTION "username_key"("name" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT normalize(casefold(normalize(regexp_replace("name",
        '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U000E0000-\U000E0FFF]',
        '', 'g'), NFKC) COLLATE "pg_unicode_fast"), NFKC)
$$;

ALTER TABLE "users" ADD COLUMN "username_key" TEXT NOT NULL DEFAULT '';
UPDATE "users" SET "username_key" = "username_key"("username");
-- Who has a twin already keeps the name, and nobody else gets it: the eldest has the key, the others one that no name has.
UPDATE "users" "u" SET "username_key" = "u"."username_key" || '/' || "u"."id"
    FROM (SELECT "id", row_number() OVER (PARTITION BY "username_key" ORDER BY "created_at", "id") AS "age" FROM "users") "r"
    WHERE "r"."id" = "u"."id" AND "r"."age" > 1;

DROP INDEX "users_username_key";
CREATE UNIQUE INDEX "users_username_key" ON "users" ("username_key");

-- Whoever writes a name writes its key.
CREATE FUNCTION "set_username_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."username_key" := "username_key"(NEW."username");
    RETURN NEW;
END $$;
CREATE TRIGGER "users_username_key" BEFORE INSERT OR UPDATE OF "username" ON "users"
    FOR EACH ROW EXECUTE FUNCTION "set_username_key"();
