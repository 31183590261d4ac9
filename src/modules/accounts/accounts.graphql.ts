import type { FileUpload } from 'graphql-upload-ts'
import type { Picture } from '../../db/prisma/client.ts'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { urlSize, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_DATA_BYTES } from './export-service.ts'
import { UserType } from './users.graphql.ts'

interface HasAccount {
  userId: string
}

/** An account, of which what was asked for is read; of one that was deleted since, what is left of it. */
export const accountField = <Shape extends HasAccount>(
  t: Pick<PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Shape>, 'read'>,
  description: string,
) =>
  t.read({
    type: UserType,
    description,
    resolve: (query, { userId }, _args, { services }) => services.accounts.recordOf(userId, query),
  })

/** A payload that shows an account as it is after it was changed: read anew, for the actor's record is from before. */
export const accountPayload = (name: string, description: string, user: string) =>
  builder.objectRef<HasAccount>(name).implement({ description, fields: (t) => ({ user: accountField(t, user) }) })

const DeleteAccountPayload = builder.objectRef<{ id: string }>('DeleteAccountPayload').implement({
  description: 'The account that is gone.',
  fields: (t) => ({
    id: t.id({ description: 'The identifier it had, as in `user_01h2x…`.', resolve: ({ id }) => toId('user', id) }),
  }),
})

builder.mutationField('deleteAccount', (t) =>
  t.field({
    type: DeleteAccountPayload,
    description:
      'Deletes your account for good, and nobody can undo it: your keys and sessions are destroyed, your assets are taken ' +
      'out of the service, open orders are cancelled, what your wallet holds is forfeited, and what is personal is erased. ' +
      'The chain keeps your commits, with their messages and your address. ' +
      'Read `myData` before. Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED, CONFLICT.',
    resolve: async (_root, _args, { actor, services }) => ({ id: await services.deletions.delete(actor) }),
  }),
)

builder.queryField('myData', (t) =>
  t.field({
    ...wholeDocument(MAX_DATA_BYTES, 2_000),
    type: 'JSONObject',
    description:
      'All data that is stored about you: account, wallet, assets, commits, orders, refunds, transfers, deposits, withdrawals, ' +
      'sessions, links to assets, audit entries, pictures, network apps and events. `GET /api/v3/auth/users/me/export` returns the same data as a file of any size. ' +
      `Raises NOT_AUTHENTICATED, THROTTLED while another export of yours goes on, VALIDATION_FAILED when there are more than ${MAX_DATA_BYTES / 1e6} MB or 10,000 rows.`,
    resolve: (_root, _args, { actor, services }) => services.exports.read(actor),
  }),
)

const pictureRules =
  'JPEG, PNG, WebP, GIF, AVIF or TIFF, at most 10 MB; it is kept smaller and without its metadata. Null takes it away.'

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'What to change of your own record; what is left out stays.',
  fields: (t) => ({
    displayName: t.string({ description: 'The name shown to others, at most 100 characters.' }),
    description: t.string({ description: 'What you say about yourself, at most 1000 characters.' }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    defaultTag: t.string({ description: 'Tag that clients offer for new assets, at most 100 characters.' }),
    allowC2paDownload: t.boolean({ description: 'Whether clients may offer files with content credentials.' }),
    profilePicture: t.field({ type: 'Upload', description: `Your picture. ${pictureRules}` }),
    profileBackground: t.field({ type: 'Upload', description: `The picture behind your profile. ${pictureRules}` }),
  }),
})

/** Null stays null: it removes the picture. */
const fileOf = (upload: Promise<FileUpload> | null | undefined) => upload && (() => upload)

const UpdateProfilePayload = accountPayload('UpdateProfilePayload', 'Your record as it is now.', 'You.')

builder.mutationField('updateProfile', (t) =>
  t.field({
    type: UpdateProfilePayload,
    description: 'Changes your own record. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, PAYLOAD_TOO_LARGE, THROTTLED.',
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => {
      const { profilePicture, profileBackground, ...facts } = input
      const pictures = {
        profilePicture: fileOf(profilePicture),
        profileBackground: fileOf(profileBackground),
      }
      return { userId: await services.profiles.update(actor, omitNullish(facts), idempotency, pictures) }
    },
  }),
)

type Kind = Picture['kind']

const urlOf = (baseUrl: string, pictures: Pick<Picture, 'id' | 'kind'>[], wanted: Kind) => {
  const picture = pictures.find(({ kind }) => kind === wanted)
  return picture ? `${baseUrl}/pictures/${picture.id}` : null
}

const thumbnailOf = (url: string | null) => url && `${url}/thumbnail`

builder.prismaObjectFields(UserType, (t) => {
  const url = (kind: Kind, description: string, present: (url: string | null) => string | null = (found) => found) =>
    t.string({
      nullable: true,
      ...urlSize,
      description: `${description}, as WebP for everybody to see; null when there is none.`,
      select: { pictures: { select: { id: true, kind: true } } },
      resolve: ({ pictures }, _args, { baseUrl }) => present(urlOf(baseUrl, pictures, kind)),
    })
  return {
    profilePictureUrl: url('PROFILE', 'Where their picture is'),
    profilePictureThumbnailUrl: url('PROFILE', 'Where a small one of their picture is', thumbnailOf),
    profileBackgroundUrl: url('BACKGROUND', 'Where the picture behind their profile is'),
    profileBackgroundThumbnailUrl: url(
      'BACKGROUND',
      'Where a small one of the picture behind their profile is',
      thumbnailOf,
    ),
  }
})
