SELECT "tell_earlier_blame"(2000) AS "has_more"
