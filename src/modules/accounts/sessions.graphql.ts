import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, omitNullish, openToStaleTokens, shortText } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, idInputType, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { normalizeEmail } from './account-input.ts'
import { newPasswordText } from './credentials.graphql.ts'
import { countSessions, listSessions, revokeOtherSessions, revokeSession, type Session } from './sessions.ts'
import { signIn, signOut } from './sign-in.ts'
import { signUp } from './sign-up.ts'
import { accountField } from './users.graphql.ts'

const SignUpInput = builder.inputType('SignUpInput', {
  description: 'The data of a new account.',
  fields: (t) => ({
    username: t.string({
      required: true,
      description:
        'Unique username of at most 21 visible characters. Case, width and Unicode composition do not matter. It must not be the e-mail address of another account.',
    }),
    email: t.string({ required: true, description: 'E-mail address. It receives all notifications.' }),
    password: t.string({ required: true, description: newPasswordText }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    referralCode: t.string({ description: 'Referral code of the person who recommended the service.' }),
  }),
})

const SignInInput = builder.inputType('SignInInput', {
  description: 'The credentials.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Address of the account.' }),
    password: t.string({ required: true, description: 'Its password.' }),
    name: t.string({ description: 'Name of the session, such as the device. At most 100 characters.' }),
  }),
})

const SignUpPayload = builder.objectRef<{ userId: string; email: string }>('SignUpPayload').implement({
  description: 'The new account.',
  fields: (t) => ({
    user: accountField(t, 'The new account with its public fields. Sign in to read the private fields.'),
    email: t.exposeString('email', shortText(254, 'The given address.')),
  }),
})

builder.mutationField('signUp', (t) =>
  t.field({
    ...openToStaleTokens,
    type: SignUpPayload,
    description:
      'Makes an account with a wallet, a key pair and the points it starts with. ' +
      'Raises VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL, UNTRUSTED_CLIENT, THROTTLED.',
    args: { input: t.arg({ type: SignUpInput, required: true, description: 'The account to make.' }) },
    resolve: async (_root, { input }, context) => ({
      userId: await signUp(context, omitNullish(input)),
      email: normalizeEmail(input.email),
    }),
  }),
)

const SignInPayload = builder.objectRef<{ token: string }>('SignInPayload').implement({
  description: 'A session.',
  fields: (t) => ({
    token: t.exposeString('token', {
      ...characters(128),
      description: 'Access token. It is returned only once. Send it as `Authorization: token <token>`.',
    }),
  }),
})

builder.mutationField('signIn', (t) =>
  t.field({
    ...openToStaleTokens,
    type: SignInPayload,
    description:
      'Starts a session. A retry with the same Idempotency-Key returns the same token while the session exists, and ' +
      'IDEMPOTENCY_KEY_REUSED afterwards. Raises INCORRECT_LOGIN_CREDENTIALS, AUTHENTICATION_FAILED if the account is locked, EMAIL_NOT_VERIFIED, THROTTLED.',
    args: { input: t.arg({ type: SignInInput, required: true, description: 'The credentials.' }) },
    resolve: async (_root, { input }, context) => ({ token: await signIn(context, omitNullish(input)) }),
  }),
)

builder.mutationField('signOut', (t) =>
  t.boolean({
    description: 'Ends the session of this request. Raises NOT_AUTHENTICATED.',
    resolve: async (_root, _args, context) => {
      await signOut(context)
      return true
    },
  }),
)

const pages = pageOf(1_000)

const SessionType = builder.objectRef<Session>('Session').implement({
  description: 'One of your sessions: an access token, without its secret.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `session_01h2x…`.', resolve: ({ id }) => toId('session', id) }),
    name: t.exposeString('name', shortText(100, 'Name of the session, such as the device. May be empty.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the sign-in.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last use, with a delay of at most one minute. Null if it was never recorded.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the session ends, even if it is used. Null means never. Unused sessions end earlier.',
    }),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'True for the session of this request.' }),
  }),
})

const SessionConnection = connectionOf(SessionType, 'Session', ['a session', 'sessions'])

builder.queryField('sessions', (t) =>
  t.connection(
    {
      type: SessionType,
      ...pages,
      description: 'Your sessions that have not ended, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: { search: searchArg(t, 'the name'), offset: offsetArg(t) },
      resolve: async (_root, { offset, search, ...args }, context) => ({
        ...(await resolveCursorConnection(
          { args, ...pages, toCursor: ({ id }: Session) => toId('session', id) },
          (page: ResolveCursorConnectionArgs) => listSessions(context, { ...page, offset: offset ?? 0, search }),
        )),
        totalCount: () => countSessions(context, search),
      }),
    },
    SessionConnection,
  ),
)

const RevokeSessionInput = idInputType('RevokeSessionInput', 'The session to end.', 'Identifier of the session.')

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
    resolve: async (_root, { input }, context) => {
      await revokeSession(context, input)
      return { id: input.id }
    },
  }),
  revokeOtherSessions: t.field({
    type: RevokeOtherSessionsPayload,
    description:
      'Ends all of your sessions but the one you came with, those at the pages for administrators, too. Raises NOT_AUTHENTICATED.',
    resolve: async (_root, _args, context) => ({ session: await revokeOtherSessions(context) }),
  }),
}))
