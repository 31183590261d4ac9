-- CreateEnum
CREATE TYPE "role" AS ENUM ('USER', 'ADMIN');

-- CreateEnum
CREATE TYPE "commit_status" AS ENUM ('PENDING', 'BROADCAST', 'INCLUDED', 'FINAL', 'FAILED');

-- CreateEnum
CREATE TYPE "currency" AS ENUM ('NUM', 'POINTS');

-- CreateEnum
CREATE TYPE "book" AS ENUM ('REVENUE', 'GAS', 'PROMOTION', 'DEPOSITS', 'FORFEITED');

-- CreateEnum
CREATE TYPE "pin_kind" AS ENUM ('FILE', 'TREE');

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "username" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "role" "role" NOT NULL DEFAULT 'USER',
    "language" TEXT NOT NULL DEFAULT 'en-us',
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "display_name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "default_tag" TEXT NOT NULL DEFAULT '',
    "referral_code" TEXT NOT NULL DEFAULT '',
    "allow_c2pa_download" BOOLEAN NOT NULL DEFAULT true,
    "asset_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "wallets" (
    "user_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "num" DECIMAL(38,18) NOT NULL DEFAULT 0,
    "points" DECIMAL(38,18) NOT NULL DEFAULT 0,

    CONSTRAINT "wallets_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "user_keys" (
    "user_id" UUID NOT NULL,
    "vault_key_id" TEXT NOT NULL,
    "wrapped_data_key" BYTEA NOT NULL,
    "sealed_private_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_keys_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "access_tokens" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "user_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assets" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "nid" TEXT NOT NULL,
    "owner_id" UUID NOT NULL,
    "creator_id" UUID NOT NULL,
    "file_name" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "file_size" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "caption" TEXT NOT NULL DEFAULT '',
    "headline" TEXT NOT NULL DEFAULT '',
    "tag" TEXT NOT NULL DEFAULT '',
    "public_access" BOOLEAN NOT NULL DEFAULT false,
    "custom" JSONB NOT NULL DEFAULT '{}',
    "meta" TEXT,
    "signed_metadata" TEXT,
    "signature" TEXT,
    "head_sequence" INTEGER NOT NULL DEFAULT 1,
    "head_commit_id" UUID NOT NULL,
    "uploaded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "assets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "commits" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "asset_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "author_id" UUID NOT NULL,
    "message" TEXT NOT NULL DEFAULT '',
    "changes" JSONB NOT NULL,
    "tree" TEXT NOT NULL,
    "tree_cid" TEXT NOT NULL,
    "tree_sha256" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "commits_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "commit_relays" (
    "commit_id" UUID NOT NULL,
    "status" "commit_status" NOT NULL DEFAULT 'PENDING',
    "tree_signature" TEXT,
    "lane" TEXT,
    "nonce" INTEGER,
    "transaction_hash" TEXT,
    "block_number" INTEGER,
    "block_hash" TEXT,
    "failure" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "commit_relays_pkey" PRIMARY KEY ("commit_id")
);

-- CreateTable
CREATE TABLE "chain_transactions" (
    "hash" TEXT NOT NULL,
    "commit_id" UUID NOT NULL,
    "raw" BYTEA NOT NULL,
    "max_fee_per_gas" DECIMAL(38,0) NOT NULL,
    "max_priority_fee_per_gas" DECIMAL(38,0) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chain_transactions_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "transfers" (
    "id" UUID NOT NULL DEFAULT uuidv7(),
    "reference" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transfers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entries" (
    "transfer_id" UUID NOT NULL,
    "position" SMALLINT NOT NULL,
    "wallet_id" UUID,
    "book" "book",
    "currency" "currency" NOT NULL,
    "amount" DECIMAL(38,18) NOT NULL,

    CONSTRAINT "entries_pkey" PRIMARY KEY ("transfer_id","position")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" BYTEA NOT NULL,
    "payload_hash" BYTEA NOT NULL,
    "result" TEXT NOT NULL,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope")
);

-- CreateTable
CREATE TABLE "pins" (
    "cid" TEXT NOT NULL,
    "asset_id" UUID NOT NULL,
    "kind" "pin_kind" NOT NULL,

    CONSTRAINT "pins_pkey" PRIMARY KEY ("cid","asset_id")
);

-- CreateTable
CREATE UNLOGGED TABLE "limits" (
    "key" TEXT NOT NULL,
    "window_end" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "limits_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "settings" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "wallets_address_key" ON "wallets"("address");

-- CreateIndex
CREATE UNIQUE INDEX "access_tokens_hash_key" ON "access_tokens"("hash");

-- CreateIndex
CREATE INDEX "access_tokens_user_id_idx" ON "access_tokens"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_prefix_key" ON "api_keys"("prefix");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "assets_owner_id_id_idx" ON "assets"("owner_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "commits_asset_id_sequence_key" ON "commits"("asset_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "commit_relays_lane_nonce_key" ON "commit_relays"("lane", "nonce");

-- CreateIndex
CREATE INDEX "chain_transactions_commit_id_idx" ON "chain_transactions"("commit_id");

-- CreateIndex
CREATE UNIQUE INDEX "transfers_reference_key" ON "transfers"("reference");

-- CreateIndex
CREATE INDEX "entries_wallet_id_transfer_id_idx" ON "entries"("wallet_id", "transfer_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "pins_asset_id_idx" ON "pins"("asset_id");

-- AddForeignKey
ALTER TABLE "wallets" ADD CONSTRAINT "wallets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_keys" ADD CONSTRAINT "user_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assets" ADD CONSTRAINT "assets_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assets" ADD CONSTRAINT "assets_creator_id_fkey" FOREIGN KEY ("creator_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "commits" ADD CONSTRAINT "commits_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "commits" ADD CONSTRAINT "commits_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "commit_relays" ADD CONSTRAINT "commit_relays_commit_id_fkey" FOREIGN KEY ("commit_id") REFERENCES "commits"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chain_transactions" ADD CONSTRAINT "chain_transactions_commit_id_fkey" FOREIGN KEY ("commit_id") REFERENCES "commit_relays"("commit_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entries" ADD CONSTRAINT "entries_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "transfers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entries" ADD CONSTRAINT "entries_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pins" ADD CONSTRAINT "pins_asset_id_fkey" FOREIGN KEY ("asset_id") REFERENCES "assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on: what Prisma's language cannot say. `diff` leaves all of it alone.

-- "Ana" and "ana" are one person.
CREATE UNIQUE INDEX "users_username_key" ON "users" (lower("username"));
CREATE UNIQUE INDEX "users_email_key" ON "users" (lower("email"));

-- A file is registered once; after a deletion it may be registered again.
CREATE UNIQUE INDEX "assets_nid_key" ON "assets" ("nid") WHERE "deleted_at" IS NULL;

-- The relay finds its work at once, however many commits are settled: what is to be signed, and what is on its way in each lane.
CREATE INDEX "commit_relays_unsigned_idx" ON "commit_relays" ("commit_id") WHERE "status" = 'PENDING' AND "lane" IS NULL;
CREATE INDEX "commit_relays_open_idx" ON "commit_relays" ("lane", "nonce") WHERE "status" IN ('PENDING', 'BROADCAST', 'INCLUDED') AND "lane" IS NOT NULL;

ALTER TABLE "users"
    ADD CONSTRAINT "users_username_length" CHECK (char_length("username") BETWEEN 1 AND 21),
    ADD CONSTRAINT "users_asset_count_not_negative" CHECK ("asset_count" >= 0);

-- The backstop of every charge: no way through the code can overdraw a wallet.
ALTER TABLE "wallets"
    ADD CONSTRAINT "wallets_num_not_negative" CHECK ("num" >= 0),
    ADD CONSTRAINT "wallets_points_not_negative" CHECK ("points" >= 0);

-- Only a SHA-256 may stand here, never a secret as it was shown.
ALTER TABLE "access_tokens"
    ADD CONSTRAINT "access_tokens_hash_length" CHECK (octet_length("hash") = 32);
ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_hash_length" CHECK (octet_length("hash") = 32);

ALTER TABLE "assets"
    ADD CONSTRAINT "assets_headline_length" CHECK (char_length("headline") <= 25),
    ADD CONSTRAINT "assets_file_size_not_negative" CHECK ("file_size" >= 0),
    ADD CONSTRAINT "assets_sha256_format" CHECK ("sha256" ~ '^[0-9a-f]{64}$'),
    ADD CONSTRAINT "assets_custom_object" CHECK (jsonb_typeof("custom") = 'object'),
    ADD CONSTRAINT "assets_head_sequence_positive" CHECK ("head_sequence" >= 1);

ALTER TABLE "commits"
    ADD CONSTRAINT "commits_sequence_positive" CHECK ("sequence" >= 1),
    ADD CONSTRAINT "commits_changes_object" CHECK (jsonb_typeof("changes") = 'object'),
    ADD CONSTRAINT "commits_tree_sha256_format" CHECK ("tree_sha256" ~ '^[0-9a-f]{64}$');

-- A line belongs to a wallet or to a book, and moves something.
ALTER TABLE "entries"
    ADD CONSTRAINT "entries_one_account" CHECK (num_nonnulls("wallet_id", "book") = 1),
    ADD CONSTRAINT "entries_amount_not_zero" CHECK ("amount" <> 0);

-- The books are only ever added to: a mistake is put right by another transfer.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: its rows are never changed or removed', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER "transfers_append_only" BEFORE UPDATE OR DELETE ON "transfers"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "transfers_no_truncate" BEFORE TRUNCATE ON "transfers"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "entries_append_only" BEFORE UPDATE OR DELETE ON "entries"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "entries_no_truncate" BEFORE TRUNCATE ON "entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- A history stays whole. Deleting an asset erases what its commits told, and nothing else.
CREATE FUNCTION "refuse_commit_update"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erased "commits" := OLD;
BEGIN
    erased."message" := '';
    erased."changes" := '{}';
    erased."tree" := '';
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on commits is refused: a commit can only be erased (message, changes and tree emptied)'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER "commits_erase_only" BEFORE UPDATE ON "commits"
    FOR EACH ROW EXECUTE FUNCTION "refuse_commit_update"();
CREATE TRIGGER "commits_no_delete" BEFORE DELETE ON "commits"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "commits_no_truncate" BEFORE TRUNCATE ON "commits"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- Rows that are updated often: room on the page lets an update stay there and leave the indexes alone, and early
-- vacuuming keeps that room free. Early statistics, because plans for a table never analysed are slow plans.
ALTER TABLE "wallets" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
ALTER TABLE "assets" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
ALTER TABLE "commit_relays" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
ALTER TABLE "limits" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE "users" SET (fillfactor = 90, autovacuum_analyze_threshold = 20);
ALTER TABLE "access_tokens" SET (autovacuum_analyze_threshold = 20);
ALTER TABLE "commits" SET (autovacuum_analyze_threshold = 20);
ALTER TABLE "transfers" SET (autovacuum_analyze_threshold = 20);
ALTER TABLE "entries" SET (autovacuum_analyze_threshold = 20);
ALTER TABLE "idempotency_keys" SET (autovacuum_analyze_threshold = 20);
