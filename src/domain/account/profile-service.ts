/** What a person tells of themselves, and their settings. Contract: `PATCH /api/v3/auth/users/me`, `…/profile`. */
import type { Actor, Caller, UserActor } from '../actor.ts'
import { askerOf } from '../asker.ts'
import { authenticationFailed, notFound } from '../errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../idempotency.ts'
import { parse } from '../input.ts'
import type { Limit, Limits } from '../limits.ts'
import { assertUserMay } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import type { PictureMaker } from '../ports/files.ts'
import type { Gate, Shares } from '../ports/gate.ts'
import { networkOf } from '../request-limits.ts'
import { identityOf, type PicturesGiven, pictureValues, receivePictures } from './picture.ts'
import { type ProfileInput, profileInput } from './profile-input.ts'
import { changeProfile, findPicture } from './profile-statements.ts'

interface Dependencies {
  database: Database
  idempotency: Idempotency
  limits: Limits
  pictures: PictureMaker
  /** By account and by network. */
  pictureShares: Shares
  pictureGate: Gate
}

/** Making a picture takes up to ten seconds of a core. */
const perAccount: Limit = { name: 'picture', count: 60, seconds: 3600 }
const perNetwork: Limit = { name: 'picture-network', count: 300, seconds: 3600 }

/** The limits of pictures, with what they count. A trusted service acts for many users from one address. */
const limitsOf = (actor: UserActor & Caller): [Limit, string][] => [
  [perAccount, actor.id],
  ...(askerOf(actor).service === undefined ? [[perNetwork, networkOf(actor.address)] as [Limit, string]] : []),
]

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/** Profiles: what people tell of themselves, their settings and pictures. */
export function createProfileService(deps: Dependencies) {
  const { database, idempotency, limits, pictures, pictureShares, pictureGate } = deps
  const inTurn = (actor: Actor): PictureMaker => ({
    make(source, sides) {
      const asker = askerOf(actor)
      const make = () => pictureGate(() => pictures.make(source, sides), asker)
      return asker.keys.reduceRight((work, key) => () => pictureShares.take(key, 1, work), make)()
    },
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
      for (const [limit, subject] of pictureLimits) await limits.assertOpen(limit, subject)
      const received = await receivePictures(given)
      return idempotency.once(actor, context, 'updateProfile', { ...input, ...identityOf(received) }, async () => {
        const { displayName = null, description = null, language = null, defaultTag = null } = input
        const { allowC2paDownload = null } = input
        const facts = { displayName, description, language, defaultTag, allowC2paDownload }
        const changesPictures = isPictured || received.removed.length > 0
        if (!changesPictures && Object.values(facts).every((fact) => fact === null)) {
          return idempotency.remember(context, actor.id)
        }
        for (const [limit, subject] of pictureLimits) await limits.take(limit, subject)
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
