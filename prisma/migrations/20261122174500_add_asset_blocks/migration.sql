-- CreateTable
CREATE TABLE "asset_blocks" (
    "cid" TEXT NOT NULL,
    "asset_id" UUID NOT NULL,

    CONSTRAINT "asset_blocks_pkey" PRIMARY KEY ("cid","asset_id")
);

-- CreateIndex
CREATE INDEX "asset_blocks_asset_id_idx" ON "asset_blocks"("asset_id");

-- AddForeignKey
ALTER TABLE "asset_blocks" ADD CONSTRAINT "asset_blocks_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
