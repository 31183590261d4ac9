ALTER TYPE "pin_kind" ADD VALUE 'C2PA';
ALTER TABLE "assets" ADD COLUMN "c2pa_cid" TEXT, ADD COLUMN "c2pa_version" TEXT;
