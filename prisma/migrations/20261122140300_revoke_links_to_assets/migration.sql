-- Links to the page of a private asset are signed, not stored: those of an earlier generation are good no more.
ALTER TABLE "assets" ADD COLUMN "link_generation" INTEGER NOT NULL DEFAULT 0;
