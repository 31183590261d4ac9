/** All about accounts, made from their parts: who somebody is, how they get in, and what becomes of them. */

import type { Coins } from '../../chain/chain-types.ts'
import type { Database } from '../../db/database-types.ts'
import type { PictureMaker } from '../../files/file-types.ts'
import type { Custody, KeyVault, PasswordHasher } from '../../keys/key-types.ts'
import type { ComposeMail, Mailer } from '../../mail/mail-types.ts'
import type { Idempotency } from '../../shared/idempotency.ts'
import type { Log } from '../../shared/log.ts'
import type { RateLimiter, RequestQuota } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { createAccountMail } from './account-mail.ts'
import { createAccountService } from './account-service.ts'
import { createAdminSessionService } from './admin-session-service.ts'
import { createDeletionService } from './deletion-service.ts'
import { createExportService } from './export-service.ts'
import { createIdentityService } from './identity-service.ts'
import { createLockService } from './lock-service.ts'
import { createMailRequests } from './mail-requests.ts'
import { createOneTimeTokens } from './one-time-token.ts'
import { createOwnPassword } from './own-password.ts'
import { createPasswordCheck } from './password-check.ts'
import { createPasswordService } from './password-service.ts'
import { createProfileService } from './profile-service.ts'
import { createSessionService } from './session-service.ts'
import { createTokenUse } from './token-use.ts'

interface Dependencies {
  database: Database
  custody: Custody
  coins: Coins
  passwords: PasswordHasher
  pictures: PictureMaker
  vault: KeyVault
  notifications: FeedNotifications
  mailer: Mailer
  compose: ComposeMail
  rateLimiter: RateLimiter
  requestQuota: RequestQuota
  idempotency: Idempotency
  actionArgs: ActionArgs
  /** Limits data exports. */
  exports: Semaphore
  /** Limits the guesses at one account that a process checks at once. */
  guesses: Semaphore
  /** Limits the processing of profile pictures. */
  pictureSemaphore: Semaphore
  log: Log
  meter: Meter
  /** Where people find the service, without a trailing slash. */
  publicUrl: string
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
  config: {
    signUpPoints: string
    requireApiKeyForSignUp: boolean
    /** Days until a new session ends by itself; 0 is never. */
    accessTokenDays: number
    emailVerification: 'off' | 'on' | 'required'
  }
}

/** The services of accounts, by the names that the context has for them. */
export type AccountServices = ReturnType<typeof createAccountServices>['services']

/**
 * Makes the services of accounts, and what carries out their jobs. What they keep in memory (requests that nobody was told of yet,
 * guesses that are looked at, use of sessions) is this process's own.
 */
export function createAccountServices(deps: Dependencies) {
  const { database, rateLimiter, idempotency } = deps
  const passwordCheck = createPasswordCheck(deps)
  const tokenUse = createTokenUse(deps)
  const tokens = createOneTimeTokens(deps)
  const ownPassword = createOwnPassword({ database, rateLimiter, passwordCheck })
  const credentials = {
    ...deps,
    tokens,
    ownPassword,
    mailRequests: createMailRequests({ database, rateLimiter, idempotency }),
  }
  const deletions = createDeletionService(deps)
  const mail = createAccountMail({ ...deps, tokens })
  return {
    services: {
      accounts: createAccountService({ ...deps, passwordCheck, tokenUse }),
      adminSessions: createAdminSessionService({ ...deps, passwordCheck, ownPassword }),
      sessions: createSessionService({ ...deps, tokenUse }),
      profiles: createProfileService(deps),
      deletions,
      exports: createExportService(deps),
      passwords: createPasswordService(credentials),
      identities: createIdentityService(credentials),
      users: createLockService(deps),
      ownPassword,
    },
    jobs: { accountMail: mail.handle, forgetKey: deletions.forget },
  }
}
