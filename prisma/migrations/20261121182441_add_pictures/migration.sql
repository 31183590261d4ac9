-- CreateEnum
CREATE TYPE "picture_kind" AS ENUM ('PROFILE', 'BACKGROUND');

-- AlterEnum
ALTER TYPE "pin_kind" ADD VALUE 'THUMBNAIL';

-- AlterTable
ALTER TABLE "assets" ADD COLUMN     "thumbnail_asked" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "thumbnail_cid" TEXT;

-- CreateTable
CREATE TABLE "pictures" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "user_id" UUID NOT NULL,
    "kind" "picture_kind" NOT NULL,
    "picture" BYTEA NOT NULL,
    "thumbnail" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pictures_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "pictures_user_id_kind_key" ON "pictures"("user_id", "kind");

-- AddForeignKey
ALTER TABLE "pictures" ADD CONSTRAINT "pictures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Assets from before there were thumbnails, until the queue was asked for theirs.
CREATE INDEX "assets_thumbnail_unasked_idx" ON "assets" ("id") WHERE NOT "thumbnail_asked" AND "deleted_at" IS NULL;

-- WebP does not compress any further.
ALTER TABLE "pictures" ALTER COLUMN "picture" SET STORAGE EXTERNAL, ALTER COLUMN "thumbnail" SET STORAGE EXTERNAL;
