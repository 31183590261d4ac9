import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { arrayOf, boolean, bytes, orNull, statement, text, uuid } from '../../db/sql.ts'
import { authenticationFailed, DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import {
  type IdempotentContext,
  insertIdempotencyKey,
  once,
  onceParams,
  onceSql,
  onceTypes,
} from '../../shared/idempotency.ts'
import { newUuid, UUID } from '../../shared/ids.ts'
import { displayName, parse, trimmedText } from '../../shared/input.ts'
import { isServiceKey, networkOf, rateLimitKeys } from '../../shared/limiters.ts'
import { assertUserMay, type Caller, type UserActor } from '../../shared/policy.ts'
import { thumbnailTypeNames } from '../assets/file-types.ts'
import type { IncomingFile } from '../assets/uploads.ts'
import { auditSql } from '../audit/audit-sql.ts'

/** Maximum size of an uploaded picture, in bytes. The stored picture is smaller. */
const MAX_PICTURE_BYTES = 10_000_000

/** Pictures by input field. `sides`: longer side of the picture, and longer side of its thumbnail, in pixels. */
const pictureFields = {
  profilePicture: { kind: 'PROFILE', sides: [1024, 256] },
  profileBackground: { kind: 'BACKGROUND', sides: [2048, 512] },
} as const

type PictureField = keyof typeof pictureFields

const profileInput = z.strictObject({
  displayName: displayName(100).optional(),
  description: trimmedText(1000).optional(),
  language: trimmedText(16).optional(),
  defaultTag: trimmedText(100).optional(),
  allowC2paDownload: z.boolean({ error: 'Must be a valid boolean.' }).optional(),
})

/** Changes of a profile. Missing fields stay unchanged. A null removes the picture. */
export type ProfileInput = z.input<typeof profileInput> & {
  [Field in PictureField]?: (() => Promise<IncomingFile>) | null | undefined
}

/** Changes values that are not null, and stores and removes pictures. No row: the account is deleted. */
const changeProfile = statement(
  'account_profile_change',
  {
    parameters: {
      ...{ user: uuid, displayName: orNull(text), description: orNull(text), language: orNull(text) },
      ...{ defaultTag: orNull(text), allowC2paDownload: orNull(boolean), ids: arrayOf(uuid), kinds: arrayOf(text) },
      ...{ pictures: arrayOf(bytes), thumbnails: arrayOf(bytes), removedKinds: arrayOf(text) },
      ...{ address: text, ...onceTypes },
    },
    columns: { id: uuid },
  },
  `with updated_user as (
     update users set display_name = coalesce($displayName, display_name), description = coalesce($description, description),
       language = coalesce($language, language), default_tag = coalesce($defaultTag, default_tag),
       allow_c2pa_download = coalesce($allowC2paDownload, allow_c2pa_download)
     where id = $user and deleted_at is null returning id
   ),
   upserted_pictures as (
     insert into pictures (id, user_id, kind, picture, thumbnail)
     select item.id, updated_user.id, item.kind::picture_kind, item.picture, item.thumbnail
     from updated_user, unnest($ids, $kinds, $pictures, $thumbnails) as item (id, kind, picture, thumbnail)
     on conflict (user_id, kind) do update
       set id = excluded.id, picture = excluded.picture, thumbnail = excluded.thumbnail, created_at = now()
   ),
   deleted_pictures as (
     delete from pictures using updated_user where user_id = updated_user.id and kind::text = any ($removedKinds)
   ),
   ${auditSql({ from: 'updated_user', user: 'id', action: 'profile.changed', address: '$address' })},
   ${onceSql('updated_user.id::text', 'updated_user')}
   select id from updated_user`,
)

const findPicture = statement(
  'picture_find',
  { parameters: { picture: uuid, wantsThumbnail: boolean }, columns: { bytes } },
  'select case when $wantsThumbnail then thumbnail else picture end as bytes from pictures where id = $picture',
)

async function receivePicture(field: PictureField, file: IncomingFile) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.createReadStream()) {
    size += chunk.length
    if (size > MAX_PICTURE_BYTES)
      throw new DomainError('PAYLOAD_TOO_LARGE', `A picture is over the limit of ${MAX_PICTURE_BYTES} bytes.`)
    chunks.push(chunk)
  }
  if (size === 0) throw validationFailed({ [field]: ['The submitted file is empty.'] })
  return { field, bytes: Buffer.concat(chunks) }
}

async function receivePictures(pictures: Pick<ProfileInput, PictureField>) {
  const fields = Object.keys(pictureFields) as PictureField[]
  // In parallel, because a form may contain its files in any order. A file is readable only after the previous one.
  const received = await Promise.all(
    fields.map(async (field) => {
      const file = await pictures[field]?.()
      return file && receivePicture(field, file)
    }),
  )
  return {
    received: received.filter((picture) => picture !== undefined),
    removed: fields.filter((field) => pictures[field] === null),
  }
}
type ReceivedPictures = Awaited<ReturnType<typeof receivePictures>>

/** Returns the digests of pictures, which identify them in an idempotency key. */
const digestsOf = ({ received, removed }: ReceivedPictures) => ({
  ...Object.fromEntries(received.map(({ field, bytes }) => [field, createHash('sha256').update(bytes).digest('hex')])),
  ...Object.fromEntries(removed.map((field) => [field, null])),
})

/** Scales pictures, and returns the parameters of the statement. Throws VALIDATION_FAILED, UNAVAILABLE. */
async function pictureParameters(
  { actor, pictures, semaphores }: Use<'actor' | 'pictures' | 'semaphores'>,
  { received, removed }: ReceivedPictures,
) {
  const scaled: { id: string; kind: string; picture: Uint8Array; thumbnail: Uint8Array }[] = []
  for (const { field, bytes } of received) {
    const { kind, sides } = pictureFields[field]
    const scale = () => pictures.make(Readable.from([bytes]), sides)
    const [picture, thumbnail] = (await semaphores.pictures(scale, { keys: rateLimitKeys(actor) })) ?? []
    if (!picture || !thumbnail) throw validationFailed({ [field]: [`Upload a valid image: ${thumbnailTypeNames}.`] })
    scaled.push({ id: newUuid(), kind, picture, thumbnail })
  }
  return {
    ids: scaled.map(({ id }) => id),
    kinds: scaled.map(({ kind }) => kind),
    pictures: scaled.map(({ picture }) => picture),
    thumbnails: scaled.map(({ thumbnail }) => thumbnail),
    removedKinds: removed.map((field) => pictureFields[field].kind),
  }
}

/** Returns the rate limits of profile pictures with their subjects. Trusted services have no limit by address. */
const limitsOf = (actor: UserActor & Caller) => {
  const limits: ['picture' | 'picture-address', string][] = [['picture', actor.id]]
  if (!rateLimitKeys(actor).some(isServiceKey)) limits.push(['picture-address', networkOf(actor.address)])
  return limits
}

/** Changes the caller's profile. Returns the UUID of the user. */
export async function updateProfile(
  context: IdempotentContext & Use<'pictures' | 'rateLimiter' | 'semaphores'>,
  { profilePicture, profileBackground, ...rawInput }: ProfileInput,
): Promise<string> {
  const { actor, database, idempotency, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(profileInput, rawInput)
  idempotency.isFree = true
  const hasPictures = Boolean(profilePicture || profileBackground)
  const limits = hasPictures ? limitsOf(actor) : []
  for (const [limit, subject] of limits) await rateLimiter.assertAvailable(limit, subject)
  const pictures = await receivePictures({ profilePicture, profileBackground })
  return once(context, 'updateProfile', { ...input, ...digestsOf(pictures) }, async () => {
    const changesPictures = hasPictures || pictures.removed.length > 0
    if (!changesPictures && Object.keys(input).length === 0) return insertIdempotencyKey(context, actor.id)
    for (const [limit, subject] of limits) await rateLimiter.consume(limit, subject)
    const [changed] = await database.query(changeProfile, {
      user: actor.id,
      ...{ displayName: null, description: null, language: null, defaultTag: null, allowC2paDownload: null },
      ...input,
      ...(await pictureParameters(context, pictures)),
      address: actor.address,
      ...onceParams(context),
    })
    // The account was deleted since the request arrived.
    if (!changed) throw authenticationFailed()
    return changed.id
  })
}

/** Returns a profile picture of any user, or its thumbnail, as WebP. Throws NOT_FOUND. */
export async function readPicture(
  { database }: Use<'database'>,
  { id, isThumbnail }: { id: string; isThumbnail: boolean },
): Promise<Uint8Array> {
  const [found] = UUID.test(id) ? await database.query(findPicture, { picture: id, wantsThumbnail: isThumbnail }) : []
  if (!found) throw notFound('Picture')
  return found.bytes
}
