import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { offsetArg, searchArg, totalCountDescription, totalCountOf } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import type { Session } from './session-service.ts'

const pages = pageOf(1_000)

const SessionType = builder.objectRef<Session>('Session').implement({
  description: 'One of your sessions: an access token, without its secret.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `session_01h2x…`.', resolve: ({ id }) => toId('session', id) }),
    name: t.exposeString('name', {
      ...characters(100),
      description: 'What it is recognised by: the device as it named itself, or empty.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When you signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, a minute late at most; null when that was never noted.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When it ends by itself, used or not; null is never. One that nobody uses ends sooner or later, too.',
    }),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'Whether this request came with it.' }),
  }),
})

const SessionConnection = builder.connectionObject(
  {
    type: SessionType,
    name: 'SessionConnection',
    description: 'A page of sessions.',
    fields: (t) => ({
      totalCount: t.int({
        description: totalCountDescription,
        resolve: totalCountOf,
      }),
    }),
  },
  { name: 'SessionEdge', description: 'A session with its cursor.' },
)

builder.queryField('sessions', (t) =>
  t.connection(
    {
      type: SessionType,
      ...pages,
      description: 'Your sessions that have not ended, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        search: searchArg(t, 'the name'),
        offset: offsetArg(t),
      },
      resolve: async (_root, { offset, search, ...args }, { actor, services }) => ({
        ...(await resolveCursorConnection(
          { args, ...pages, toCursor: ({ id }: Session) => toId('session', id) },
          (page: ResolveCursorConnectionArgs) =>
            services.sessions.list(actor, { ...page, offset: offset ?? 0, search }),
        )),
        totalCount: () => services.sessions.count(actor, search),
      }),
    },
    SessionConnection,
  ),
)

const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the session.' }) }),
})

const RevokeSessionPayload = builder.objectRef<{ id: string }>('RevokeSessionPayload').implement({
  description: 'The session that has ended.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Its identifier.' }) }),
})

const RevokeOtherSessionsPayload = builder.objectRef<{ session: Session }>('RevokeOtherSessionsPayload').implement({
  description: 'The session that stays.',
  fields: (t) => ({ session: t.expose('session', { type: SessionType, description: 'The one you came with.' }) }),
})

builder.mutationFields((t) => ({
  revokeSession: t.field({
    type: RevokeSessionPayload,
    description:
      'Ends one of your sessions, also the one you came with: the next request with its token is refused. ' +
      'Raises NOT_AUTHENTICATED, NOT_FOUND.',
    args: { input: t.arg({ type: RevokeSessionInput, required: true, description: 'The session.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => {
      await services.sessions.revoke(actor, input.id, idempotency)
      return { id: input.id }
    },
  }),
  revokeOtherSessions: t.field({
    type: RevokeOtherSessionsPayload,
    description:
      'Ends all of your sessions but the one you came with, those at the pages for administrators, too. Raises NOT_AUTHENTICATED.',
    resolve: async (_root, _args, { actor, services, idempotency }) => ({
      session: await services.sessions.revokeOthers(actor, idempotency),
    }),
  }),
}))
