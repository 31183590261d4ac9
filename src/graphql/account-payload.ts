import { queryFromInfo } from '@pothos/plugin-prisma'
import { builder } from './builder.ts'
import { UserType } from './user.ts'

interface HasAccount {
  userId: string
}

/** An account, of which what was asked for is read. */
export const accountField = <Shape extends HasAccount>(
  t: Pick<PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Shape>, 'field'>,
  description: string,
) =>
  t.field({
    type: UserType,
    description,
    resolve: ({ userId }, _args, context, info) =>
      context.services.accounts.get(userId, queryFromInfo({ context, info })),
  })

/** A payload that shows an account as it is after it was changed: read anew, for the actor's record is from before. */
export const accountPayload = (name: string, description: string, user: string) =>
  builder.objectRef<HasAccount>(name).implement({ description, fields: (t) => ({ user: accountField(t, user) }) })
