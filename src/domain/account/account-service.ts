/** Signing up, in and out. Contract: `/api/v3/auth/…` and the account parts of the schema. */
import { createHash, createHmac, randomBytes, randomUUIDv7 } from 'node:crypto'
import type { Prisma, User } from '../../platform/prisma/client.ts'
import { type Actor, assertUser } from '../actor.ts'
import { authenticationFailed, DomainError } from '../errors.ts'
import { type Attempt, type Idempotency, markValues } from '../idempotency.ts'
import { parse } from '../input.ts'
import type { Limits } from '../limits.ts'
import { formatAmount, toUnits } from '../money.ts'
import { assertMay } from '../policy.ts'
import { type Custody, type Database, type KeyVault, type PasswordHasher, violatedConstraint } from '../ports.ts'
import { type SignInInput, type SignUpInput, signInInput, signUpInput } from './account-input.ts'
import {
  deleteToken,
  findApiKey,
  findByToken,
  findCredentials,
  insertApiKey,
  insertToken,
  insertUser,
} from './account-statements.ts'

/** What a request says about who sends it. */
export interface Credentials {
  /** The secret of `Authorization: token <secret>`; undefined when no such header came. */
  token: string | undefined
  /** `x-api-key`. */
  apiKey: string | undefined
  /** The network address it came from. */
  address: string
}

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type UserQuery = Omit<Prisma.UserFindUniqueArgs, 'where'>

interface Dependencies {
  database: Database
  custody: Custody
  passwords: PasswordHasher
  vault: KeyVault
  limits: Limits
  idempotency: Idempotency
  config: { signUpPoints: string; signUpsPerHour: number; signInsPerMinute: number; requireApiKeyForSignUp: boolean }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** 160 bits, as 40 hex digits: old callers keep tokens in columns of that width. */
const TOKEN_BYTES = 20

const refusals: Record<string, DomainError['code']> = {
  users_username_key: 'DUPLICATE_USERNAME',
  users_email_key: 'DUPLICATE_EMAIL',
}

function duplicate(error: unknown): unknown {
  const code = refusals[violatedConstraint(error) ?? '']
  if (!code) return error
  const field = code === 'DUPLICATE_EMAIL' ? 'email' : 'username'
  return new DomainError(code, `This ${field} is taken.`, {
    details: { [field]: [`A user with this ${field} already exists.`] },
  })
}

export type AccountService = ReturnType<typeof createAccountService>

export function createAccountService(deps: Dependencies) {
  const { database, custody, passwords, vault, limits, idempotency, config } = deps
  const signUps = { name: 'sign-up', count: config.signUpsPerHour, seconds: 3600 }
  const signIns = { name: 'sign-in', count: config.signInsPerMinute, seconds: 60 }
  const points = formatAmount(config.signUpPoints)

  async function insert(
    input: ReturnType<typeof signUpInput.parse>,
    role: User['role'],
    attempt: Attempt,
  ): Promise<string> {
    const id = randomUUIDv7()
    const [passwordHash, key] = await Promise.all([passwords.hash(input.password), custody.create(id)])
    const granted = role === 'USER' && toUnits(points) > 0n ? points : '0'
    await database
      .query(insertUser, [
        ...[
          id,
          input.username,
          input.email,
          passwordHash,
          input.language,
          input.referralCode,
          role,
          key.address,
          granted,
        ],
        ...[key.vaultKeyId, key.wrappedDataKey, key.sealedPrivateKey, randomUUIDv7()],
        ...markValues(attempt),
      ])
      .catch((error: unknown) => {
        throw duplicate(error)
      })
    return id
  }

  /** A retry with the same key and payload must give the same token, and tokens are not stored: so it is derived from the mark. */
  const newToken = ({ mark }: Attempt) =>
    mark
      ? createHmac('sha256', vault.derive('access-token'))
          .update(mark.scope)
          .update(mark.payloadHash)
          .digest('hex')
          .slice(0, TOKEN_BYTES * 2)
      : randomBytes(TOKEN_BYTES).toString('hex')

  return {
    /**
     * Who sends this request. A present but bad secret is refused even where none is needed.
     * Raises AUTHENTICATION_FAILED, UNTRUSTED_CLIENT.
     */
    async authenticate({ token, apiKey, address }: Credentials): Promise<Exclude<Actor, { kind: 'system' }>> {
      const [found, trusted] = await Promise.all([
        token === undefined ? undefined : database.query(findByToken, [sha256(token)]),
        apiKey === undefined ? undefined : database.query(findApiKey, [sha256(apiKey)]),
      ])
      if (found && !found[0]) throw authenticationFailed()
      if (trusted && !trusted[0]) throw new DomainError('UNTRUSTED_CLIENT', 'The API key is not valid.')
      const origin = { address, apiKeyId: trusted?.[0]?.id ?? null }
      const row = found?.[0]
      if (!row) return { kind: 'anonymous', ...origin }
      const { id, role, username, address: wallet, num, points, token_id: tokenId } = row
      return { kind: 'user', id, role, username, wallet: { address: wallet, num, points }, tokenId, ...origin }
    },

    /**
     * A new account with a wallet, a key pair and the points it starts with; returns the user's UUID.
     * Raises VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL, UNTRUSTED_CLIENT, THROTTLED, UNAVAILABLE.
     */
    async signUp(actor: Actor, rawInput: SignUpInput, attempt: Attempt): Promise<string> {
      assertMay(actor, 'account:create')
      if (config.requireApiKeyForSignUp && (actor.kind === 'system' || actor.apiKeyId === null)) {
        throw new DomainError('UNTRUSTED_CLIENT', 'An API key is needed to sign up.')
      }
      const input = parse(signUpInput, rawInput)
      return idempotency.once(actor, attempt, 'signUp', input, async () => {
        if (actor.kind !== 'system') await limits.take(signUps, actor.address)
        return insert(input, 'USER', attempt)
      })
    },

    /** An administrator's account, made by an operator. Raises VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL. */
    async createAdministrator(rawInput: SignUpInput): Promise<string> {
      return insert(parse(signUpInput, rawInput), 'ADMIN', { key: undefined, replayed: false })
    },

    /**
     * A new access token for e-mail and password; the only time it is seen.
     * Raises VALIDATION_FAILED, INCORRECT_LOGIN_CREDENTIALS, THROTTLED, UNAVAILABLE.
     */
    async signIn(actor: Actor, rawInput: SignInInput, attempt: Attempt): Promise<string> {
      assertMay(actor, 'session:create')
      const input = parse(signInInput, rawInput)
      if (actor.kind !== 'system') await limits.take(signIns, actor.address)
      const email = input.email.trim()
      const [credentials] = await database.query(findCredentials, [email])
      if (!(await passwords.verify(credentials?.password_hash, input.password)) || !credentials) {
        throw new DomainError('INCORRECT_LOGIN_CREDENTIALS', 'Unable to log in with provided credentials.')
      }
      let token: string | undefined
      await idempotency.once(actor, attempt, 'signIn', { email, user: credentials.id }, async () => {
        token = newToken(attempt)
        await database.query(insertToken, [credentials.id, sha256(token), ...markValues(attempt)])
        return credentials.id
      })
      return token ?? newToken(attempt)
    },

    /** The actor's own record. Raises NOT_AUTHENTICATED. */
    async me(actor: Actor, query: UserQuery = {}): Promise<User> {
      assertMay(actor, 'account:read')
      assertUser(actor)
      return this.find(actor.id, query)
    },

    /** A user's record by UUID; what of it is private, the schema decides field by field. */
    async find(id: string, query: UserQuery = {}): Promise<User> {
      return database.read.user.findUniqueOrThrow({ ...query, where: { id } })
    },

    /** Ends the session the actor came with. Raises NOT_AUTHENTICATED. */
    async signOut(actor: Actor): Promise<void> {
      assertUser(actor)
      await database.query(deleteToken, [actor.tokenId])
    },

    /** An API key for a trusted service: `<8 characters>.<32 characters>`, seen only now. Raises PERMISSION_DENIED. */
    async issueApiKey(actor: Actor, name: string): Promise<{ id: string; key: string }> {
      assertMay(actor, 'store:administer')
      const prefix = randomBytes(4).toString('hex')
      const key = `${prefix}.${randomBytes(24).toString('base64url')}`
      const [row] = await database.query(insertApiKey, [name, prefix, sha256(key)])
      return { id: row!.id, key }
    },
  }
}
