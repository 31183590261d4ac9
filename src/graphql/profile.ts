import { queryFromInfo } from '@pothos/plugin-prisma'
import { builder } from './builder.ts'
import { given } from './given.ts'
import { UserType } from './user.ts'

const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'What to change of your own record; what is left out stays.',
  fields: (t) => ({
    displayName: t.string({ description: 'The name shown to others, at most 100 characters.' }),
    description: t.string({ description: 'What you say about yourself, at most 1000 characters.' }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    defaultTag: t.string({ description: 'Tag that clients offer for new assets, at most 100 characters.' }),
    allowC2paDownload: t.boolean({ description: 'Whether clients may offer files with content credentials.' }),
  }),
})

const UpdateProfilePayload = builder.objectRef<{ userId: string }>('UpdateProfilePayload').implement({
  description: 'Your record as it is now.',
  fields: (t) => ({
    user: t.field({
      type: UserType,
      description: 'You.',
      resolve: ({ userId }, _args, context, info) =>
        context.services.accounts.find(userId, queryFromInfo({ context, info })) as never,
    }),
  }),
})

builder.mutationField('updateProfile', (t) =>
  t.field({
    type: UpdateProfilePayload,
    description: 'Changes your own record. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
    args: { input: t.arg({ type: UpdateProfileInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { actor, services, attempt }) => ({
      userId: await services.profiles.update(actor, given(input), attempt),
    }),
  }),
)
