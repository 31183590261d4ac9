ALTER TABLE "assets" ADD COLUMN "content_credentials" JSONB;
