-- A withdrawal that was confirmed, lost its block and was refused in another one stayed confirmed. Once it is sent again, as far as the books say,
-- it is ended like any other whose move has failed: its amount is given back, and its owner is told.
UPDATE "withdrawals" x SET "status" = 'SENDING', "settled_at" = NULL
FROM "coin_moves" m
WHERE m."id" = x."move_id" AND m."status" = 'FAILED' AND x."status" = 'CONFIRMED';
