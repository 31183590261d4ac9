-- One word for it everywhere, as in the tables of the job queue.
ALTER TABLE "commit_relays" RENAME COLUMN "trouble" TO "last_error";
ALTER TABLE "setbacks" RENAME COLUMN "trouble" TO "last_error";
