import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import type { Context } from '../../context.ts'
import {
  builder,
  omitNullish,
  openToStaleTokens,
  optionalTime,
  payloadType,
  publicId,
  shortText,
  time,
} from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, idInputType, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { normalizeEmail } from './account-input.ts'
import { changeEmail, changePassword, changeUsername } from './change-account.ts'
import { requestEmailVerification, requestPasswordReset, resetPassword, verifyEmail } from './mailed-links.ts'
import * as sessions from './sessions.ts'
import { signUp } from './sign-up.ts'
import { accountField, accountPayload } from './users.graphql.ts'

interface AccountMutation<Name extends string> extends Partial<typeof openToStaleTokens> {
  description: string
  input: string
  /** Descriptions of the input fields, by name. All are required. */
  fields: Record<Name, string>
  argument: string
  payload: string
  user: string
  /** Returns the UUID of the user. */
  run: (context: Context, input: Record<Name, string>) => Promise<string>
}

/** Defines a mutation of an account with its types `<Name>Input` and `<Name>Payload`. */
function accountMutation<Name extends string>(
  name: string,
  { input, fields, argument, payload, user, run, ...options }: AccountMutation<Name>,
): void {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const type = builder.inputType(`${typeName}Input`, {
    description: input,
    fields: (t) =>
      Object.fromEntries(
        Object.entries<string>(fields).map(([field, description]) => [
          field,
          field === 'uid' ? t.id({ required: true, description }) : t.string({ required: true, description }),
        ]),
      ),
  })
  builder.mutationField(name, (t) =>
    t.field({
      ...options,
      type: accountPayload(`${typeName}Payload`, payload, user),
      args: { input: t.arg({ type, required: true, description: argument }) },
      // Pothos cannot infer the fields of a generic input type.
      resolve: async (_root, args, context) => ({ userId: await run(context, args.input as Record<Name, string>) }),
    }),
  )
}

const newPassword =
  '8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. ' +
  'Control characters, invisible characters and unassigned characters are not allowed.'
const currentPassword = 'Your password.'
const link = { uid: 'Identifier of the account, from the link.', token: 'Secret from the link.' }
const publicUser = 'The new account with its public fields. Sign in to read the private fields.'

accountMutation('resetPassword', {
  description:
    'Sets a new password with a mailed link. This also verifies the address. Raises VALIDATION_FAILED, INVALID_TOKEN.',
  input: 'A new password and the values of a mailed link `…/account/password-reset/{uid}/{token}`.',
  fields: { ...link, newPassword },
  argument: 'The link and the password.',
  payload: 'The password is set, and all sessions have ended.',
  ...{ user: publicUser, run: resetPassword, ...openToStaleTokens },
})

accountMutation('changePassword', {
  description:
    'Changes your password. A wrong current password returns VALIDATION_FAILED. ' +
    'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED.',
  input: 'The current password and a new password.',
  fields: { currentPassword: 'The current password.', newPassword },
  argument: 'Both passwords.',
  payload: 'The password is set, and all other sessions have ended.',
  ...{ user: 'Your account.', run: changePassword },
})

accountMutation('changeEmail', {
  description:
    'Changes the e-mail address of your account. The new address gets a link to verify it, and the old address is notified. ' +
    'If the service requires verified addresses, the new address is `pendingEmail` until it is verified. ' +
    'A wrong password returns VALIDATION_FAILED. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_EMAIL, THROTTLED.',
  input: 'A new e-mail address for your account.',
  fields: { currentPassword, newEmail: 'E-mail address that receives all notifications.' },
  argument: 'The address.',
  payload: 'Result of `changeEmail`. The address has changed, or will change when the new address is verified.',
  ...{ user: 'Your account.', run: changeEmail },
})

accountMutation('changeUsername', {
  description:
    'Changes your username. A wrong password returns VALIDATION_FAILED. ' +
    'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED.',
  input: 'A new username for your account.',
  fields: { currentPassword, newUsername: 'Unique username of at most 21 characters. Case does not matter.' },
  argument: 'The username.',
  payload: 'Result of `changeUsername`. The account has the new username.',
  ...{ user: 'Your account.', run: changeUsername },
})

accountMutation('verifyEmail', {
  description:
    'Verifies an e-mail address with a mailed link. A pending address becomes the address of the account. ' +
    'Raises INVALID_TOKEN, DUPLICATE_EMAIL.',
  input: 'Values of a mailed link `…/account/email-verification/{uid}/{token}`.',
  fields: link,
  argument: 'The secret from the mailed link.',
  payload: 'Result of `verifyEmail`. The address is verified.',
  ...{ user: publicUser, run: verifyEmail, ...openToStaleTokens },
})

const emailPayload = (name: string, description: string, email: string) =>
  builder
    .objectRef<{ email: string }>(name)
    .implement({ description, fields: (t) => ({ email: t.exposeString('email', shortText(254, email)) }) })

const RequestPasswordResetInput = builder.inputType('RequestPasswordResetInput', {
  description: 'The account with the lost password.',
  fields: (t) => ({ email: t.string({ required: true, description: 'E-mail address of the account.' }) }),
})

const RequestEmailVerificationInput = builder.inputType('RequestEmailVerificationInput', {
  description: 'The e-mail address to verify.',
  fields: (t) => ({ email: t.string({ description: 'The e-mail address. Defaults to the address of your account.' }) }),
})

const SignUpInput = builder.inputType('SignUpInput', {
  description: 'The data of a new account.',
  fields: (t) => ({
    username: t.string({
      required: true,
      description:
        'Unique username of at most 21 visible characters. Case, width and Unicode composition do not matter. It must not be the e-mail address of another account.',
    }),
    email: t.string({ required: true, description: 'E-mail address that receives all notifications.' }),
    password: t.string({ required: true, description: newPassword }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    referralCode: t.string({ description: 'Referral code of the person who recommended the service.' }),
  }),
})

const SignInInput = builder.inputType('SignInInput', {
  description: 'The credentials.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'E-mail address of the account.' }),
    password: t.string({ required: true, description: 'Password of the account.' }),
    name: t.string({ description: 'Name of the session, such as the device. At most 100 characters.' }),
  }),
})

const SignUpPayload = builder.objectRef<{ userId: string; email: string }>('SignUpPayload').implement({
  description: 'The new account.',
  fields: (t) => ({
    user: accountField(t, publicUser),
    email: t.exposeString('email', shortText(254, 'The e-mail address from the input.')),
  }),
})

const SessionType = builder.objectRef<sessions.Session>('Session').implement({
  description: 'One of your sessions: an access token, without its secret.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(publicId('session', 'id', 'Identifier, as in `session_01h2x…`.')),
    name: t.exposeString('name', shortText(100, 'Name of the session, such as the device. May be empty.')),
    createdAt: t.expose('createdAt', time('Time of the sign-in.')),
    lastUsedAt: t.expose(
      'lastUsedAt',
      optionalTime('Time of the last use, with a delay of at most one minute. Null if no use was recorded.'),
    ),
    expiresAt: t.expose(
      'expiresAt',
      optionalTime(
        'Time at which the session ends, even if it is used. Null means never. Unused sessions end earlier.',
      ),
    ),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'True for the session of this request.' }),
  }),
})

const pages = pageOf(1_000)

builder.queryField('sessions', (t) =>
  t.connection(
    {
      type: SessionType,
      ...pages,
      description: 'Your sessions that have not ended, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: { search: searchArg(t, 'the name'), offset: offsetArg(t) },
      resolve: async (_root, { offset, search, ...args }, context) => ({
        ...(await resolveCursorConnection(
          { args, ...pages, toCursor: ({ id }: sessions.Session) => toId('session', id) },
          (page: ResolveCursorConnectionArgs) => sessions.listSessions(context, page, offset ?? 0, search),
        )),
        totalCount: () => sessions.countSessions(context, search),
      }),
    },
    connectionOf(SessionType, 'Session', ['a session', 'sessions']),
  ),
)

builder.mutationFields((t) => {
  const inputArg = <Type extends Parameters<typeof t.arg>[0]['type']>(type: Type, description: string) => ({
    input: t.arg({ type, required: true, description }),
  })
  return {
    signUp: t.field({
      ...openToStaleTokens,
      type: SignUpPayload,
      description:
        'Creates an account with a wallet, a key pair and the initial points. ' +
        'Raises VALIDATION_FAILED, DUPLICATE_USERNAME, DUPLICATE_EMAIL, UNTRUSTED_CLIENT, THROTTLED.',
      args: inputArg(SignUpInput, 'The account to create.'),
      resolve: async (_root, { input }, context) => ({
        userId: await signUp(context, omitNullish(input)),
        email: normalizeEmail(input.email),
      }),
    }),
    signIn: t.field({
      ...openToStaleTokens,
      type: builder.objectRef<{ token: string }>('SignInPayload').implement({
        description: 'A session.',
        fields: (t) => ({
          token: t.exposeString(
            'token',
            shortText(128, 'Access token. The token is returned only once. Send it as `Authorization: token <token>`.'),
          ),
        }),
      }),
      description:
        'Starts a session. A retry with the same Idempotency-Key returns the same token while the session exists, and ' +
        'IDEMPOTENCY_KEY_REUSED afterwards. Raises INCORRECT_LOGIN_CREDENTIALS, AUTHENTICATION_FAILED if the account is locked, EMAIL_NOT_VERIFIED, THROTTLED.',
      args: inputArg(SignInInput, 'The credentials.'),
      resolve: async (_root, { input }, context) => ({ token: await sessions.signIn(context, omitNullish(input)) }),
    }),
    signOut: t.boolean({
      description: 'Ends the session of this request. Raises NOT_AUTHENTICATED.',
      resolve: (_root, _args, context) => sessions.signOut(context).then(() => true),
    }),
    requestPasswordReset: t.field({
      ...openToStaleTokens,
      type: emailPayload(
        'RequestPasswordResetPayload',
        'The request was accepted. The response does not show whether the account exists.',
        'The e-mail address from the input.',
      ),
      description:
        'Mails a link to set a new password. The link works once, within 30 minutes. Only the newest link works. ' +
        'Raises VALIDATION_FAILED, THROTTLED.',
      args: inputArg(RequestPasswordResetInput, 'The account with the lost password.'),
      resolve: async (_root, { input }, context) => {
        await requestPasswordReset(context, input)
        return { email: normalizeEmail(input.email) }
      },
    }),
    requestEmailVerification: t.field({
      ...openToStaleTokens,
      type: emailPayload(
        'RequestEmailVerificationPayload',
        'The request was accepted. The response does not show whether the address belongs to an account.',
        'The e-mail address from the input, or the address of your account.',
      ),
      description:
        'Mails a link that verifies an address. The link works once, within 24 hours. Only the newest link works. ' +
        'Raises NOT_AUTHENTICATED if an anonymous caller gives no address, VALIDATION_FAILED, THROTTLED.',
      args: inputArg(RequestEmailVerificationInput, 'The e-mail address to verify.'),
      resolve: async (_root, { input }, context) => ({
        email: await requestEmailVerification(context, omitNullish(input)),
      }),
    }),
    revokeSession: t.field({
      type: builder.objectRef<{ id: string }>('RevokeSessionPayload').implement({
        description: 'Result of `revokeSession`: the ended session.',
        fields: (t) => ({ id: t.exposeID('id', { description: 'Identifier of the session.' }) }),
      }),
      description:
        'Ends one of your sessions, which can be the session of this request. Later requests with the token of the ended session are rejected. ' +
        'Raises NOT_AUTHENTICATED, NOT_FOUND.',
      args: inputArg(
        idInputType('RevokeSessionInput', 'The session to end.', 'Identifier of the session.'),
        'The session.',
      ),
      resolve: (_root, { input }, context) => sessions.revokeSession(context, input).then(() => ({ id: input.id })),
    }),
    revokeOtherSessions: t.field({
      type: payloadType(
        'RevokeOtherSessionsPayload',
        'Result of `revokeOtherSessions`: the session of this request, which continues.',
        ['session', SessionType, 'The session of this request.'],
      ),
      description:
        'Ends all of your sessions except the session of this request, including those of the pages for administrators. Raises NOT_AUTHENTICATED.',
      resolve: async (_root, _args, context) => ({ session: await sessions.revokeOtherSessions(context) }),
    }),
  }
})
