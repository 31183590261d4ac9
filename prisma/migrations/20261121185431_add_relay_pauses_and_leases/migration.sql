-- What cannot be made ready for the chain waits outside the queue of what can: pauses by the database's clock.
ALTER TABLE "commit_relays" ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "trouble" TEXT;

-- What is to be made ready, by when it is due; and what is ready and waits for a nonce. Settled rows stand in neither.
DROP INDEX "commit_relays_unsigned_idx";
CREATE INDEX "commit_relays_unprepared_idx" ON "commit_relays" ("next_attempt_at", "commit_id") WHERE "status" = 'PENDING' AND "lane" IS NULL AND "tree_signature" IS NULL;
CREATE INDEX "commit_relays_ready_idx" ON "commit_relays" ("commit_id") WHERE "status" = 'PENDING' AND "lane" IS NULL AND "tree_signature" IS NOT NULL;

-- A file may be deleted and registered again: the lives of an asset identifier, in order.
CREATE INDEX "assets_nid_uploaded_at_idx" ON "assets" ("nid", "uploaded_at");

-- Who may do what one process alone may do, until when.
CREATE TABLE "leases" (
    "name" TEXT NOT NULL,
    "holder" UUID NOT NULL,
    "epoch" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("name")
);
