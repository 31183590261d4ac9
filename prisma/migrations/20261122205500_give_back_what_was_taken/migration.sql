-- As before, but what a charge took nothing of gets nothing back: `least` passes over a null, so that such a grant, of which the
-- buyer may have got points since, took all of it, and points that never expired came back as points that do.
CREATE OR REPLACE FUNCTION "use_grants"("wallet" uuid, "change" numeric, "at" timestamptz, "transfer" uuid, "undone" uuid DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    rest numeric := abs(change);
    lot record;
    units numeric;
BEGIN
    FOR lot IN
        SELECT g.id, CASE WHEN change < 0 THEN g.remaining ELSE (
            SELECT u.amount + coalesce((
                SELECT sum(given.amount) FROM orders o JOIN refunds r ON r.order_id = o.id
                JOIN grant_uses given ON given.transfer_id = r.transfer_id AND given.grant_id = g.id
                WHERE o.transfer_id = undone
            ), 0)
            FROM grant_uses u WHERE u.transfer_id = undone AND u.grant_id = g.id
        ) END AS units
        FROM point_grants g
        WHERE g.wallet_id = wallet AND g.expires_at IS NOT NULL AND g.expired_at IS NULL AND g.expires_at > at
        ORDER BY CASE WHEN change < 0 THEN g.expires_at END, g.expires_at DESC, g.id
    LOOP
        EXIT WHEN rest <= 0;
        units := least(rest, coalesce(lot.units, 0));
        CONTINUE WHEN units <= 0;
        rest := rest - units;
        UPDATE point_grants SET remaining = remaining + units * sign(change) WHERE id = lot.id;
        INSERT INTO grant_uses (grant_id, transfer_id, amount) VALUES (lot.id, transfer, -units * sign(change));
    END LOOP;
END $$;
