/** How many wrong guesses were really looked at, as argon2 saw it. */
import { readFile } from 'node:fs/promises'
import { statement, text } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'

/** The environment of a gateway that writes its verifications to this file. */
export const countingEnv = (path: string) => ({
  NODE_OPTIONS: `--import=${new URL('./counted-verifications.ts', import.meta.url)}`,
  VERIFICATIONS: path,
})

/** Of passwords for addresses that nobody has. */
export const NOBODY = 'nobody'

const findHashes = statement(
  'proof_password_hashes',
  { columns: { email: text, hash: text } },
  'select email, password_hash as hash from users',
)

const linesOf = async (path: string) =>
  (await readFile(path, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { encoded: string; matches?: boolean })

/** Wrong guesses by e-mail address since the gateways started, or NOBODY. To be read before passwords change. */
export async function countWrong(database: ConnectedDatabase, paths: readonly string[]): Promise<Map<string, number>> {
  const owners = new Map((await database.query(findHashes)).map(({ email, hash }) => [hash, email]))
  const counts = new Map<string, number>()
  for (const { encoded, matches } of (await Promise.all(paths.map(linesOf))).flat()) {
    const owner = owners.get(encoded) ?? NOBODY
    // Made for an account, or right.
    if (matches ?? owner !== NOBODY) continue
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return counts
}

/** What was added. */
export const since = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...after].map(([owner, count]) => [owner, count - (before.get(owner) ?? 0)]))
