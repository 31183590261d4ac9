-- Lists of assets that somebody may see, newest first: everybody's public ones and one's own, all of them or by tag. The
-- columns that choose are the whole condition, so that an index alone tells which rows a page begins after, and counts them.
CREATE INDEX "assets_public_idx" ON "assets" ("public_access", "id" DESC) WHERE "deleted_at" IS NULL;
CREATE INDEX "assets_public_tag_idx" ON "assets" ("tag", "public_access", "id" DESC) WHERE "deleted_at" IS NULL;
CREATE INDEX "assets_owned_idx" ON "assets" ("owner_id", "id" DESC) WHERE "deleted_at" IS NULL;
CREATE INDEX "assets_owned_tag_idx" ON "assets" ("owner_id", "tag", "id" DESC) WHERE "deleted_at" IS NULL;

-- By the hash of the file. There are few of one hash.
CREATE INDEX "assets_sha256_idx" ON "assets" ("sha256") WHERE "deleted_at" IS NULL;
