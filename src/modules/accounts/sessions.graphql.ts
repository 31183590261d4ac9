import { builder, omitNullish } from '../../graphql/builder.ts'
import { openToStaleTokens } from '../../graphql/expired-token.ts'
import { characters } from '../../graphql/limits/document-cost.ts'
import { accountField } from './accounts.graphql.ts'
import { normalizeEmail } from './email-address.ts'
import { newPasswordText } from './passwords.graphql.ts'

const SignUpInput = builder.inputType('SignUpInput', {
  description: 'What a new account needs.',
  fields: (t) => ({
    username: t.string({
      required: true,
      description:
        'At most 21 visible characters, and not the e-mail address of somebody else; unique without regard to case, width and composition.',
    }),
    email: t.string({ required: true, description: 'A valid address; it receives all notifications.' }),
    password: t.string({ required: true, description: newPasswordText }),
    language: t.string({ description: 'Language of mails, as in en-us.' }),
    referralCode: t.string({ description: 'Code of whoever sent them here.' }),
  }),
})

const SignInInput = builder.inputType('SignInInput', {
  description: 'Who signs in.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Address of the account.' }),
    password: t.string({ required: true, description: 'Its password.' }),
    name: t.string({ description: 'What the session is recognised by, such as the device: at most 100 characters.' }),
  }),
})

const SignUpPayload = builder.objectRef<{ userId: string; email: string }>('SignUpPayload').implement({
  description: 'The new account.',
  fields: (t) => ({
    user: accountField(t, 'The account as everybody sees it; sign in to see what is private.'),
    email: t.exposeString('email', { ...characters(254), description: 'The address that was given.' }),
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
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.accounts.signUp(actor, omitNullish(input), idempotency),
      email: normalizeEmail(input.email),
    }),
  }),
)

const SignInPayload = builder.objectRef<{ token: string }>('SignInPayload').implement({
  description: 'A session.',
  fields: (t) => ({
    token: t.exposeString('token', {
      ...characters(128),
      description: 'Access token, seen only now: send it as `Authorization: token <token>`.',
    }),
  }),
})

builder.mutationField('signIn', (t) =>
  t.field({
    ...openToStaleTokens,
    type: SignInPayload,
    description:
      'Starts a session. A retry with the same Idempotency-Key gets the same token while the session stands, and ' +
      'IDEMPOTENCY_KEY_REUSED afterwards. Raises INCORRECT_LOGIN_CREDENTIALS, AUTHENTICATION_FAILED when the account is locked, EMAIL_NOT_VERIFIED, THROTTLED.',
    args: { input: t.arg({ type: SignInInput, required: true, description: 'Who signs in.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      token: await services.accounts.signIn(actor, omitNullish(input), idempotency),
    }),
  }),
)

builder.mutationField('signOut', (t) =>
  t.boolean({
    description: 'Ends the session whose token came with the request. Raises NOT_AUTHENTICATED.',
    resolve: async (_root, _args, { actor, services }) => {
      await services.accounts.signOut(actor)
      return true
    },
  }),
)
