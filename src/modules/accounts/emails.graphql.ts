import { builder, omitNullish } from '../../graphql/builder.ts'
import { openToStaleTokens } from '../../graphql/expired-token.ts'
import { characters } from '../../graphql/limits/document-cost.ts'
import { accountPayload } from './accounts.graphql.ts'

const currentPassword = 'Your password.'

const ChangeEmailInput = builder.inputType('ChangeEmailInput', {
  description: 'Another address for your account.',
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: currentPassword }),
    newEmail: t.string({ required: true, description: 'A valid address; it receives all notifications.' }),
  }),
})

const ChangeUsernameInput = builder.inputType('ChangeUsernameInput', {
  description: 'Another username for your account.',
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: currentPassword }),
    newUsername: t.string({ required: true, description: 'At most 21 characters; unique without regard to case.' }),
  }),
})

const VerifyEmailInput = builder.inputType('VerifyEmailInput', {
  description: 'A mailed link `…/account/email-verification/{uid}/{token}`.',
  fields: (t) => ({
    uid: t.id({ required: true, description: 'Identifier of the account, from the link.' }),
    token: t.string({ required: true, description: 'Secret from the link.' }),
  }),
})

const ChangeEmailPayload = accountPayload(
  'ChangeEmailPayload',
  'The account has another address, or is to have it once it is verified.',
  'You.',
)
const ChangeUsernamePayload = accountPayload('ChangeUsernamePayload', 'The account has another username.', 'You.')
const VerifyEmailPayload = accountPayload(
  'VerifyEmailPayload',
  'The address is verified.',
  'The account as everybody sees it; sign in to see what is private.',
)

const RequestEmailVerificationInput = builder.inputType('RequestEmailVerificationInput', {
  description: 'Whose address is to be verified.',
  fields: (t) => ({
    email: t.string({ description: 'Address of the account; left out, it is yours.' }),
  }),
})

const RequestEmailVerificationPayload = builder
  .objectRef<{ email: string }>('RequestEmailVerificationPayload')
  .implement({
    description: 'The request is taken; whether there is something to verify is not told.',
    fields: (t) => ({
      email: t.exposeString('email', { ...characters(254), description: 'The address that was given, or yours.' }),
    }),
  })

builder.mutationFields((t) => ({
  changeEmail: t.field({
    type: ChangeEmailPayload,
    description:
      'Gives your account another address, which gets a mail to be verified by; the old one is told. Where addresses are ' +
      'verified it is your `pendingEmail` until then, and the old one stands. A wrong password ' +
      'is told as VALIDATION_FAILED. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_EMAIL, THROTTLED.',
    args: { input: t.arg({ type: ChangeEmailInput, required: true, description: 'The address.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.identities.changeEmail(actor, input, idempotency),
    }),
  }),
  changeUsername: t.field({
    type: ChangeUsernamePayload,
    description:
      'Gives your account another username. A wrong password is told as VALIDATION_FAILED. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED.',
    args: { input: t.arg({ type: ChangeUsernameInput, required: true, description: 'The username.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.identities.changeUsername(actor, input, idempotency),
    }),
  }),
  requestEmailVerification: t.field({
    ...openToStaleTokens,
    type: RequestEmailVerificationPayload,
    description:
      'Has a link mailed by which an address is verified within 24 hours; only the newest link works, and once. ' +
      'Raises NOT_AUTHENTICATED when no address is given, VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: RequestEmailVerificationInput, required: true, description: 'Whose.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      email: await services.identities.requestVerification(actor, omitNullish(input), idempotency),
    }),
  }),
  verifyEmail: t.field({
    ...openToStaleTokens,
    type: VerifyEmailPayload,
    description:
      'Verifies an address by a mailed link; one that the account waited for is its address from now on. ' +
      'Raises INVALID_TOKEN, DUPLICATE_EMAIL.',
    args: { input: t.arg({ type: VerifyEmailInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.identities.verify(actor, input, idempotency),
    }),
  }),
}))
