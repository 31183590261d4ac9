-- Alternative text for accessibility, for those who cannot see the picture.
ALTER TABLE "assets" ADD COLUMN "alt_text" TEXT NOT NULL DEFAULT '';
