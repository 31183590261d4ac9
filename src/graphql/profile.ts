import type { FileUpload } from 'graphql-upload-ts'
import { accountPayload } from './account-payload.ts'
import { builder } from './builder.ts'
import { omitNullish } from './omit-nullish.ts'

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
