/** What a person tells of themselves, and their settings. Contract: `PATCH /api/v3/auth/users/me`, `…/profile`. */

import type { Database } from '../../db/database-types.ts'
import type { PictureMaker } from '../../files/file-types.ts'
import type { Actor, Caller, UserActor } from '../../shared/actor.ts'
import { authenticationFailed, notFound } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { parse } from '../../shared/input.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { isServiceKey, networkOf, type RateLimiter, rateLimitKeys } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import { type ProfileInput, profileInput } from './profile-input.ts'
import { identityOf, type PicturesGiven, pictureValues, receivePictures } from './profile-picture.ts'
import { changeProfile, findPicture } from './profiles.sql.ts'

interface Dependencies {
  database: Database
  idempotency: Idempotency
  rateLimiter: RateLimiter
  pictures: PictureMaker
  pictureSemaphore: Semaphore
}

/** Returns the rate limits of pictures, with their subjects. A trusted service acts for many users from one address. */
const limitsOf = (actor: UserActor & Caller): ['picture' | 'picture-address', string][] => [
  ['picture', actor.id],
  ...(rateLimitKeys(actor).some(isServiceKey)
    ? []
    : [['picture-address', networkOf(actor.address)] as ['picture-address', string]]),
]

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** Profiles: what people tell of themselves, their settings and pictures. */
export function createProfileService(deps: Dependencies) {
  const { database, idempotency, rateLimiter, pictures, pictureSemaphore } = deps
  const inTurn = (actor: Actor): PictureMaker => ({
    make: (source, sides) => pictureSemaphore(() => pictures.make(source, sides), { keys: rateLimitKeys(actor) }),
  })
  return {
    /**
     * Changes what is given of the actor's own record; returns their UUID. Raises NOT_AUTHENTICATED, VALIDATION_FAILED; with
     * pictures also PAYLOAD_TOO_LARGE, THROTTLED, UNAVAILABLE and what reading them raises.
     */
    async update(
      actor: Actor,
      rawInput: ProfileInput,
      context: IdempotencyContext,
      given: PicturesGiven = {},
    ): Promise<string> {
      assertUserMay(actor, 'account:update')
      const input = parse(profileInput, rawInput)
      context.isFree = true
      const isPictured = Object.values(given).some(Boolean)
      const pictureLimits = isPictured ? limitsOf(actor) : []
      for (const [limit, subject] of pictureLimits) await rateLimiter.assertAvailable(limit, subject)
      const received = await receivePictures(given)
      return idempotency.once(actor, context, 'updateProfile', { ...input, ...identityOf(received) }, async () => {
        const { displayName = null, description = null, language = null, defaultTag = null } = input
        const { allowC2paDownload = null } = input
        const facts = { displayName, description, language, defaultTag, allowC2paDownload }
        const changesPictures = isPictured || received.removed.length > 0
        if (!changesPictures && Object.values(facts).every((fact) => fact === null)) {
          return idempotency.remember(context, actor.id)
        }
        for (const [limit, subject] of pictureLimits) await rateLimiter.consume(limit, subject)
        const [changed] = await database.query(changeProfile, {
          user: actor.id,
          ...facts,
          ...(await pictureValues(received, inTurn(actor))),
          address: actor.address,
          ...fingerprintOf(context),
        })
        // The account was deleted since the request came in.
        if (!changed) throw authenticationFailed()
        return changed.id
      })
    },

    /** A picture on somebody's profile, or its thumbnail, as WebP. Raises NOT_FOUND. */
    async readPicture(id: string, { thumbnail }: { thumbnail: boolean }): Promise<Uint8Array> {
      const [found] = isUuid(id) ? await database.query(findPicture, { picture: id, wantsThumbnail: thumbnail }) : []
      if (!found) throw notFound('Picture')
      return found.bytes
    },
  }
}
