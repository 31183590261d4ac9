import { builder } from './builder.ts'
import { UserType } from './user.ts'

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
