-- The processes that live, and what each is there for. Who says nothing for a while counts no more, and after a crash of the database
-- all say it again: so nothing of it is logged.
CREATE UNLOGGED TABLE "processes" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "roles" TEXT[] NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "processes_pkey" PRIMARY KEY ("id")
);

-- What a process holds of a limit that all processes share, for as long as it lives: open streams of a caller.
CREATE UNLOGGED TABLE "held_places" (
    "subject" TEXT NOT NULL,
    "process_id" UUID NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "held_places_pkey" PRIMARY KEY ("subject", "process_id"),
    CONSTRAINT "held_places_process_id_fkey" FOREIGN KEY ("process_id") REFERENCES "processes" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "held_places_process_id_idx" ON "held_places" ("process_id");
