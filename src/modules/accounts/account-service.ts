/** Signing up, in and out. Contract: `/api/v3/auth/…` and the account parts of the schema. */
import { randomUUID } from 'node:crypto'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import type { Prisma, User } from '../../db/prisma/client.ts'
import type { Custody, KeyVault, PasswordHasher } from '../../keys/key-types.ts'
import { type Actor, assertUser } from '../../shared/actor.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext, outlived } from '../../shared/idempotency.ts'
import { newUuid, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { formatAmount, toUnits } from '../../shared/money.ts'
import { assertMay, assertTrusted, assertUserMay } from '../../shared/policy.ts'
import { networkOf, type RateLimiter } from '../../shared/rate-limiter.ts'
import { newSecret, sha256 } from '../../shared/secrets.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { type SignInInput, type SignUpInput, signInInput, signUpInput } from './account-input.ts'
import { accountLocked, duplicate, emailTaken, incorrectLogin } from './account-refusals.ts'
import { deleteToken, findApiKeys, findByTokens, findLiveHash, insertToken, insertUser } from './accounts.sql.ts'
import { createCredentialsLookup, guessedAt } from './credentials-lookup.ts'
import { mailboxDigest } from './mail-requests.ts'
import type { PasswordCheck } from './password-check.ts'
import type { TokenUse } from './token-use.ts'

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

/** Whether a row holds everything that is selected. */
const covers = (row: object, select: object | null | undefined): boolean =>
  Object.entries(select ?? { everything: true }).every(([name, wanted]) => {
    const value = (row as Record<string, unknown>)[name]
    if (wanted === true) return value !== undefined
    return (
      wanted === false ||
      (typeof value === 'object' && value !== null && Object.keys(wanted).length === 1 && covers(value, wanted.select))
    )
  })

interface Dependencies {
  database: Database
  custody: Custody
  passwords: PasswordHasher
  passwordCheck: PasswordCheck
  tokenUse: Pick<TokenUse, 'note'>
  vault: KeyVault
  rateLimiter: RateLimiter
  idempotency: Idempotency
  config: {
    signUpPoints: string
    requireApiKeyForSignUp: boolean
    /** Days until a new session ends by itself; 0 is never. */
    accessTokenDays: number
    emailVerification: 'off' | 'on' | 'required'
  }
}

/** 160 bits, as 40 hex digits: old callers keep tokens in columns of that width. */
const TOKEN_BYTES = 20

const emailNotVerified = () =>
  new DomainError('EMAIL_NOT_VERIFIED', 'Verify your e-mail address first: follow the link in the mail it got.')

/**
 * Accounts: signing up and in, telling who sends a request, and reading records of users. Keeps nothing but the look-ups
 * that wait for their turn; `config` holds limits as the environment gives them.
 */
export function createAccountService(deps: Dependencies) {
  const { database, custody, passwords, passwordCheck, tokenUse, vault, rateLimiter, idempotency, config } = deps
  const verifiesAddresses = config.emailVerification !== 'off'
  const points = formatAmount(config.signUpPoints)
  const derivationKey = vault.derive('access-token')

  async function insert(
    actor: Actor,
    { password, ...identity }: ReturnType<typeof signUpInput.parse>,
    role: User['role'],
    context: IdempotencyContext,
  ): Promise<string> {
    const id = newUuid()
    const passwordHash = await passwords.hash(password)
    const { address: wallet, ...key } = await custody.create(id)
    const granted = role === 'USER' && toUnits(points) > 0n ? points : '0'
    const [made] = await database
      .query(insertUser, {
        user: id,
        ...identity,
        passwordHash,
        role,
        isToBeVerified: role === 'USER' && verifiesAddresses,
        wallet,
        points: granted,
        ...key,
        address: auditorOf(actor).address,
        ...fingerprintOf(context),
      })
      .catch(async (error: unknown) => {
        // Only what the database refused is certain not to stand; an account whose answer was lost keeps its key.
        if (violatedConstraint(error)) await custody.forget(id)
        throw duplicate(error)
      })
    if (!made) {
      await custody.forget(id)
      throw emailTaken()
    }
    return id
  }

  const findSignedIn = createBatchLoader(async (hashes: Buffer[]) => {
    const rows = await database.query(findByTokens, { hashes })
    const found = new Map(rows.map(({ position, signed_in }) => [position, signed_in]))
    return hashes.map((_, index) => found.get(index + 1))
  })

  const findCredentials = createCredentialsLookup(database)

  const findService = createBatchLoader(async (hashes: Buffer[]) => {
    const rows = await database.query(findApiKeys, { hashes })
    const found = new Map(rows.map(({ position, id }) => [position, { id }]))
    return hashes.map((_, index) => found.get(index + 1) ?? ('unknown' as const))
  })

  /** `making` names this one making of a token. */
  const newToken = (making: string, { key }: IdempotencyContext) =>
    newSecret(derivationKey, making, key, TOKEN_BYTES).toString('hex')

  /** The token that an earlier request with its key was answered. Raises IDEMPOTENCY_KEY_REUSED. */
  async function replayToken(making: string, context: IdempotencyContext): Promise<string> {
    const token = newToken(making, context)
    const [live] = await database.query(findLiveHash, { hash: sha256(token) })
    if (!live) throw outlived('its session has ended')
    return token
  }

  /** A user's record by UUID, or null; what of it is private, the schema decides field by field. */
  async function find(id: string, query: UserQuery = {}): Promise<User | null> {
    return database.read.user.findFirst({ ...query, where: { id, deletedAt: null } })
  }

  /** A user's record by UUID. Raises NOT_FOUND, also once the account is deleted. */
  async function get(id: string, query?: UserQuery): Promise<User> {
    const user = await find(id, query)
    if (!user) throw notFound('User')
    return user
  }

  /** A user's record by UUID, of a deleted account what is left of it. Raises NOT_FOUND. */
  async function recordOf(id: string, query?: UserQuery): Promise<User> {
    const user = await database.read.user.findFirst({ ...query, where: { id } })
    if (!user) throw notFound('User')
    return user
  }

  return {
    /**
     * Identifies the caller of a request. A caller with an invalid or expired token is anonymous, and both APIs reject nearly all requests
     * with such a token.
     */
    async authenticate({
      token,
      apiKey,
      address,
    }: Credentials): Promise<{ actor: Exclude<Actor, { kind: 'system' }>; hasStaleToken: boolean }> {
      const [found, service] = await Promise.all([
        token === undefined ? undefined : findSignedIn(sha256(token)),
        apiKey === undefined ? undefined : findService(sha256(apiKey)),
      ])
      const origin = { address, service }
      if (!found) return { actor: { kind: 'anonymous', ...origin }, hasStaleToken: token !== undefined }
      tokenUse.note(found.tokenId)
      const { tokenId, ...user } = found
      const { id, role, createdAt } = user
      const record = { ...user, createdAt: new Date(createdAt) }
      return { actor: { kind: 'user', id, role, user: record, tokenId, ...origin }, hasStaleToken: false }
    },

    /** Asked before a sign-up is read. Raises UNTRUSTED_CLIENT, THROTTLED. */
    async admitSignUp(actor: Actor): Promise<void> {
      assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
      if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-up', networkOf(actor.address))
    },

    /**
     * A new account with a wallet, a key pair and the points it starts with; returns the user's UUID.
     * Raises VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL, UNTRUSTED_CLIENT, THROTTLED, UNAVAILABLE.
     */
    async signUp(actor: Actor, rawInput: SignUpInput, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'account:create')
      assertTrusted(actor, { needed: config.requireApiKeyForSignUp })
      const input = parse(signUpInput, rawInput)
      return idempotency.once(actor, context, 'signUp', input, async () => {
        if (actor.kind !== 'system') await rateLimiter.consume('sign-up', networkOf(actor.address))
        // Each has a mail sent to whatever address was given, and while it is not verified it may be given again.
        if (verifiesAddresses) await rateLimiter.consume('sign-up-mailbox', mailboxDigest(input.email))
        return insert(actor, input, 'USER', context)
      })
    },

    /**
     * An administrator's account; returns the user's UUID.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL.
     */
    async createAdministrator(actor: Actor, rawInput: SignUpInput): Promise<string> {
      assertMay(actor, 'store:administer')
      return insert(actor, parse(signUpInput, rawInput), 'ADMIN', { key: undefined, replayed: false })
    },

    /** Asked before a sign-in is read. Raises THROTTLED. */
    async admitSignIn(actor: Actor): Promise<void> {
      if (actor.kind !== 'system') await rateLimiter.assertAvailable('sign-in', networkOf(actor.address))
    },

    /**
     * A new access token for e-mail and password; the only time it is seen, but for a retry while the session stands.
     * Raises VALIDATION_FAILED, INCORRECT_LOGIN_CREDENTIALS, AUTHENTICATION_FAILED for a locked account (told to nobody but
     * who knows the password), EMAIL_NOT_VERIFIED, THROTTLED, UNAVAILABLE, and IDEMPOTENCY_KEY_REUSED for a retry whose session has ended.
     */
    async signIn(actor: Actor, rawInput: SignInInput, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'session:create')
      const input = parse(signInInput, rawInput)
      if (actor.kind !== 'system') await rateLimiter.consume('sign-in', networkOf(actor.address))
      const { email } = input
      const credentials = await findCredentials(email)
      const guess = { account: guessedAt(credentials, email), password: input.password, isSignedIn: false }
      if (!(await passwordCheck.check(guess)) || !credentials) throw incorrectLogin()
      if (credentials.is_locked) throw accountLocked()
      if (config.emailVerification === 'required' && !credentials.email_verified) throw emailNotVerified()
      let token: string | undefined
      context.isSecret = true
      const { name } = input
      const payload = { email, user: credentials.id, name }
      const made = await idempotency.once(actor, context, 'signIn', payload, async () => {
        const making = randomUUID()
        const secret = newToken(making, context)
        const [session] = await database.query(insertToken, {
          user: credentials.id,
          verifiedHash: credentials.password_hash,
          hash: sha256(secret),
          name: name ?? '',
          days: config.accessTokenDays,
          making,
          address: auditorOf(actor).address,
          ...fingerprintOf(context),
        })
        if (!session) throw incorrectLogin()
        token = secret
        return making
      })
      // What the making is called stands behind the session; an earlier version called it as the session.
      return token ?? replayToken(made.split(':').at(-1)!, context)
    },

    /** The actor's own record. Raises NOT_AUTHENTICATED. */
    async me(actor: Actor, query: UserQuery = {}): Promise<User> {
      assertUserMay(actor, 'account:read')
      // Signing in has read all that most callers ask for.
      return covers(actor.user, query.select)
        ? (actor.user as unknown as User)
        : database.read.user.findUniqueOrThrow({ ...query, where: { id: actor.id } })
    },

    /**
     * A user's record by UUID as the request came in, when they are who asks and signing in has read all that is wanted. Null otherwise, and when the
     * wallet is wanted, whose balances the request may have changed. Not for what changes accounts.
     */
    asSignedIn(actor: Actor, id: string, { select }: UserQuery): User | null {
      if (actor.kind !== 'user' || actor.id !== id || select?.wallet || !covers(actor.user, select)) return null
      return actor.user as unknown as User
    },

    find,
    get,
    recordOf,

    /** Ends the session the actor came with. Raises NOT_AUTHENTICATED. */
    async signOut(actor: Actor): Promise<void> {
      assertUser(actor)
      const { id: user, tokenId: token, address } = actor
      await database.query(deleteToken, { user, token, subject: toId('session', token), address })
    },
  }
}
