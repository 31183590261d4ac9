-- CreateIndex
CREATE INDEX "user_keys_vault_key_id_idx" ON "user_keys"("vault_key_id");
