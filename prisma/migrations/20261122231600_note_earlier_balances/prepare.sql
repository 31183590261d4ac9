SELECT "note_earlier_balances"(20000) AS "has_more"
