-- Keys that were sent without an account are found by what they made when that account is deleted. Everybody else's scope
-- begins with who sent it; scopes of an earlier version, of 32 bytes, do not.
CREATE INDEX "idempotency_keys_result_idx" ON "idempotency_keys" ("result")
    WHERE octet_length("scope") = 32 OR substring("scope" FROM 1 FOR 16) = '\x00000000000000000000000000000000'::bytea;
