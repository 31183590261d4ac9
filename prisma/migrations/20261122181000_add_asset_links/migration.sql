-- Links to the pages of assets, so that their owners list them and end single ones. What makes a link good is a signature, of which
-- nothing is kept; links from before go on until they end.

-- CreateTable
CREATE TABLE "asset_links" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "asset_id" UUID NOT NULL,
    "label" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "asset_links_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "asset_links_asset_id_id_idx" ON "asset_links"("asset_id", "id");

-- AddForeignKey
ALTER TABLE "asset_links" ADD CONSTRAINT "asset_links_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- There are few of an asset, and each is looked up by its key.
ALTER TABLE "asset_links" ADD CONSTRAINT "asset_links_label_check" CHECK (char_length("label") <= 100);
