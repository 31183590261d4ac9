/**
 * Parses a PostgreSQL connection URL. `URL` rejects a user without a host. libpq and the driver accept it with a
 * socket folder: `postgresql://annal@/annal?host=/run/postgresql`. Throws TypeError for an invalid URL.
 */
export const parseDatabaseUrl = (url: string): URL => new URL(url.replace('@/', '@localhost/'))
