-- Where the request that made a commit began, for whoever follows it to the chain.
ALTER TABLE "commit_relays" ADD COLUMN "trace" TEXT;
