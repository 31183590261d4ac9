import { toId } from '../domain/ids.ts'
import { builder } from './builder.ts'

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
