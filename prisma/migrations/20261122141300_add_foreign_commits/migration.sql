-- CreateTable
CREATE TABLE "watched_assets" (
    "nid" TEXT NOT NULL,
    "topic" TEXT,
    "past_to" INTEGER,
    "past_from" INTEGER NOT NULL DEFAULT 0,
    "past_read" BOOLEAN NOT NULL DEFAULT false,
    "cut_at" INTEGER,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_error" TEXT,

    CONSTRAINT "watched_assets_pkey" PRIMARY KEY ("nid")
);

-- CreateTable
CREATE TABLE "foreign_commits" (
    "block_number" INTEGER NOT NULL,
    "log_index" INTEGER NOT NULL,
    "nid" TEXT NOT NULL,
    "block_hash" TEXT NOT NULL,
    "transaction_hash" TEXT NOT NULL,
    "recorder" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "data_bytes" INTEGER NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "foreign_commits_pkey" PRIMARY KEY ("block_number","log_index")
);

-- CreateIndex
CREATE UNIQUE INDEX "watched_assets_topic_key" ON "watched_assets"("topic");

-- CreateIndex
CREATE INDEX "foreign_commits_nid_block_number_log_index_idx" ON "foreign_commits"("nid", "block_number", "log_index");

-- AddForeignKey
ALTER TABLE "foreign_commits" ADD CONSTRAINT "foreign_commits_nid_fkey" FOREIGN KEY ("nid") REFERENCES "watched_assets"("nid") ON DELETE CASCADE ON UPDATE CASCADE;

-- What is still to be done of them, which is little.
CREATE INDEX "watched_assets_unnamed_idx" ON "watched_assets" ("nid") WHERE "topic" IS NULL;
CREATE INDEX "watched_assets_unread_idx" ON "watched_assets" ("next_attempt_at") WHERE NOT "past_read";
