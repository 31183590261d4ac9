-- What processes have on their disks of the uploads of an account, not yet paid for. One row for each account, by whose lock words of several
-- processes come one after the other: `holders` has by process how many bytes, and until when (seconds since 1970). After a crash of the
-- database each process says it again, so nothing of it is logged.
CREATE UNLOGGED TABLE "unpaid_bytes" (
    "owner" TEXT NOT NULL,
    "holders" JSONB NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "unpaid_bytes_pkey" PRIMARY KEY ("owner")
);

CREATE INDEX "unpaid_bytes_until_idx" ON "unpaid_bytes" ("until");

-- Windows of limits that have ended are found without those that have not. A hit within a window does not touch it.
CREATE INDEX IF NOT EXISTS "limits_window_end_idx" ON "limits" ("window_end");
