/**
 * Parses a connection URL of PostgreSQL. `URL` rejects a user without a host, which libpq and the driver accept with a socket folder
 * (`postgresql://annal@/annal?host=/run/postgresql`). Throws TypeError for an invalid URL.
 */
export const parseDatabaseUrl = (url: string): URL => new URL(url.replace('@/', '@localhost/'))
