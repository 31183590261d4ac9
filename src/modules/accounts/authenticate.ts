import type { Database } from '../../db/database-types.ts'
import { arrayOf, boolean, bytes, int, json, statement, text, uuid } from '../../db/sql.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { sha256 } from '../../shared/ids.ts'
import type { Caller, SignedInUser } from '../../shared/policy.ts'
import { byEmailSql } from './account-input.ts'

export type SessionUser = Omit<SignedInUser, 'createdAt'> & { tokenId: string; createdAt: string }

/** SQL of a `SessionUser`. `u` is the user, `w` the wallet, and `token` the ID of the access token or session. */
export const sessionUserSql = (
  token: string,
) => `json_build_object('tokenId', ${token}, 'id', u.id, 'username', u.username, 'email', u.email, 'role', u.role,
     'language', u.language, 'emailVerified', u.email_verified, 'emailHeld', u.email_held,
     'pendingEmail', u.pending_email, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'assetCount', u.asset_count, 'createdAt', u.created_at,
     'wallet', json_build_object('userId', u.id, 'address', w.address, 'num', w.num::text, 'points', w.points::text))`

/**
 * Finds the users of access tokens, with all fields of `me`. `position` counts from 1. One JSON column is cheaper for
 * the driver than many columns. The subquery hides the length of the list from the planner, so that one plan serves all
 * lengths. This halves the cost of the lookup.
 */
const findSessionUsers = statement(
  'account_by_tokens',
  { parameters: { hashes: arrayOf(bytes) }, columns: { position: int, signed_in: json<SessionUser>() } },
  `select item.position::int, ${sessionUserSql('t.id')} as signed_in
   from unnest((select $hashes)) with ordinality as item (hash, position)
     join access_tokens t on t.hash = item.hash join users u on u.id = t.user_id join wallets w on w.user_id = u.id
   where (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null`,
)

export const findApiKeys = statement(
  'api_keys_by_hashes',
  { parameters: { hashes: arrayOf(bytes) }, columns: { position: int, id: uuid } },
  `select item.position::int, k.id from unnest((select $hashes)) with ordinality as item (hash, position)
     join api_keys k on k.hash = item.hash where k.revoked_at is null`,
)

const passwordColumns = { position: int, id: uuid, password_hash: text, email_verified: boolean, is_locked: boolean }

const findPasswordHashes = statement(
  'account_credentials',
  { parameters: { emails: arrayOf(text) }, columns: passwordColumns },
  `select item.position::int, found.* from unnest((select $emails)) with ordinality as item (address, position)
     cross join lateral (
       select id, password_hash, email_verified, locked_at is not null as is_locked
       from users ${byEmailSql('item.address')}
     ) as found`,
)

/** Records the use of access tokens. Skips locked rows, because waiting could end in a deadlock. */
const recordTokenUse = statement(
  'account_token_use',
  { parameters: { tokens: arrayOf(uuid) } },
  `update access_tokens set last_used_at = now()
   where id in (select id from access_tokens where id = any ($tokens) for no key update skip locked)`,
)

export type Credentials = ReturnType<typeof createCredentials>

/** Looks up credentials. Lookups that arrive together are one statement. */
export function createCredentials({ database }: { database: Database }) {
  let usedTokens = new Set<string>()
  const createLookup = <Key, Row extends { position: number }>(read: (keys: Key[]) => Promise<readonly Row[]>) =>
    createBatchLoader(async (keys: Key[]) => {
      const found = new Map((await read(keys)).map((row) => [row.position, row]))
      return keys.map((_, index) => found.get(index + 1))
    })
  const findSession = createLookup((hashes: Buffer[]) => database.query(findSessionUsers, { hashes }))
  return {
    findSessionUser: async (hash: Buffer) => (await findSession(hash))?.signed_in,
    findApiKey: createLookup((hashes: Buffer[]) => database.query(findApiKeys, { hashes })),
    findPassword: createLookup((emails: string[]) => database.query(findPasswordHashes, { emails })),
    /** Marks an access token as used. `recordTokenUse` writes the marks later, so that a request needs no write. */
    markTokenUsed: (tokenId: string) => void usedTokens.add(tokenId),
    /** Writes the marks of used tokens. The marks stay for the next call if an error occurs. */
    async recordTokenUse(): Promise<void> {
      if (usedTokens.size === 0) return
      const marked = usedTokens
      usedTokens = new Set()
      try {
        await database.query(recordTokenUse, { tokens: [...marked] })
      } catch (error) {
        for (const id of marked) usedTokens.add(id)
        throw error
      }
    },
  }
}

export const actorOf = ({ tokenId, ...user }: SessionUser, origin: Pick<Caller, 'address' | 'service'>): Caller => ({
  ...{ kind: 'user', id: user.id, role: user.role, tokenId, ...origin },
  user: { ...user, createdAt: new Date(user.createdAt) },
})

type RequestCredentials = { token: string | undefined; apiKey: string | undefined; address: string }

/** Identifies the caller of a request. A caller with an invalid or expired token (`hasStaleToken`) is anonymous. */
export async function authenticate(
  { credentials }: { readonly credentials: Credentials },
  { token, apiKey, address }: RequestCredentials,
): Promise<{ actor: Caller; hasStaleToken: boolean }> {
  const [found, key] = await Promise.all([
    token === undefined ? undefined : credentials.findSessionUser(sha256(token)),
    apiKey === undefined ? undefined : credentials.findApiKey(sha256(apiKey)),
  ])
  const service = apiKey === undefined ? undefined : key ? { id: key.id } : ('unknown' as const)
  const origin = { address, service }
  if (!found) return { actor: { kind: 'anonymous', ...origin }, hasStaleToken: token !== undefined }
  credentials.markTokenUsed(found.tokenId)
  return { actor: actorOf(found, origin), hasStaleToken: false }
}
