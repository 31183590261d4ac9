-- Anybody may ask whether a file is registered (decision 39).
-- The same index may have been built before, while the service ran (docs/operations.md).
-- CreateIndex
CREATE INDEX IF NOT EXISTS "assets_sha256_id_idx" ON "assets"("sha256", "id");
