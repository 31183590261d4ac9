/** Tokens that travel by mail: single use, newest only, good for the address they were sent to. Stored is their SHA-256. */

import type { Database } from '../../db/database-types.ts'
import type { OneTimeToken } from '../../db/prisma/client.ts'
import type { KeyVault } from '../../keys/key-types.ts'
import { DomainError } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { newSecret, sha256 } from '../../shared/secrets.ts'
import { findUsableToken, upsertToken } from './one-time-tokens.sql.ts'

/** What a mailed token is good for. */
export type Purpose = OneTimeToken['purpose']

/** What a link carries. */
export interface PresentedToken {
  /** Identifier of the account, as in `user_01h2x…`. */
  uid: string
  token: string
}

/** A presented token in the database's terms. It may be anything: only a statement tells whether it is good. */
export interface TokenKey {
  userId: string
  hash: Buffer
}

/** Seconds that a mailed token is good for. */
export const lifetimes = { PASSWORD_RESET: 30 * 60, EMAIL_VERIFICATION: 24 * 3600 } satisfies Record<Purpose, number>

/** 256 bits: 43 characters of base64url. */
const SECRET_BYTES = 32

/** One refusal for a wrong, an expired, a used and an older token. */
export const invalidToken = () =>
  new DomainError('INVALID_TOKEN', 'The link is not valid, or not any more. Request a new one.')

/** The account and the hash that a mailed link names; undefined when it cannot be a token. */
export function tokenKey({ uid, token }: PresentedToken): TokenKey | undefined {
  const userId = fromId(uid, 'user')?.uuid
  return userId === undefined ? undefined : { userId, hash: sha256(token) }
}

/** Issues and finds tokens that travel by mail; what `createOneTimeTokens` makes. */
export type OneTimeTokens = ReturnType<typeof createOneTimeTokens>

/** Tokens of mailed links, derived from the vault and from the request they were asked by, so that nothing has to keep them. */
export function createOneTimeTokens({ database, vault }: { database: Pick<Database, 'query'>; vault: KeyVault }) {
  const derivationKey = vault.derive('one-time-token')

  return {
    /**
     * The token of a request, to be mailed to `email`, or undefined when a newer or a used one stands or the account is
     * locked or gone. A request that is carried out again gets the same token, so that neither database nor queue has to hold it.
     */
    async issue(
      purpose: Purpose,
      userId: string,
      requestId: string,
    ): Promise<{ token: string; email: string } | undefined> {
      const token = newSecret(derivationKey, `${purpose}\n${userId}`, requestId, SECRET_BYTES).toString('base64url')
      const parameters = { user: userId, purpose, request: requestId, hash: sha256(token), seconds: lifetimes[purpose] }
      const [issued] = await database.query(upsertToken, parameters)
      return issued && { token, email: issued.email }
    },

    /** Where a token was sent that is good at this moment, and for whose account. Only a statement that spends it can tell for certain. */
    async find(purpose: Purpose, { userId, hash }: TokenKey): Promise<{ email: string; username: string } | undefined> {
      return (await database.query(findUsableToken, { user: userId, purpose, hash }))[0]
    },
  }
}
