-- Each word about places holds for itself, whether or not its process says that it lives.
ALTER TABLE "held_places" DROP CONSTRAINT "held_places_process_id_fkey";
DROP INDEX "held_places_process_id_idx";
ALTER TABLE "held_places" ADD COLUMN "until" TIMESTAMPTZ(3) NOT NULL;
