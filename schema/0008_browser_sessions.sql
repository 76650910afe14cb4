-- A browser's session has a second secret, in a cookie. Others have none.
ALTER TABLE tokens ADD COLUMN cookie_hash TEXT;
