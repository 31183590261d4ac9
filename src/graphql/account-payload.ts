import { queryFromInfo } from '@pothos/plugin-prisma'
import { builder } from './builder.ts'
import { UserType } from './user.ts'

/** A payload that shows an account as it is after it was changed: read anew, for the actor's record is from before. */
export const accountPayload = (name: string, description: string, user: string) =>
  builder.objectRef<{ userId: string }>(name).implement({
    description,
    fields: (t) => ({
      user: t.field({
        type: UserType,
        description: user,
        resolve: ({ userId }, _args, context, info) =>
          context.services.accounts.find(userId, queryFromInfo({ context, info })) as never,
      }),
    }),
  })
