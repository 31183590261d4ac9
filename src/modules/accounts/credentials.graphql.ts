import { builder, omitNullish } from '../../graphql/builder.ts'
import { openToStaleTokens } from '../../graphql/expired-token.ts'
import { characters } from '../../graphql/limits/document-cost.ts'
import { normalizeEmail } from './account-input.ts'
import { changeEmail, changePassword, changeUsername } from './change-account.ts'
import { requestEmailVerification, requestPasswordReset, resetPassword, verifyEmail } from './use-mailed-link.ts'
import { accountPayload } from './users.graphql.ts'

/** Description of an input field for a new password. */
export const newPasswordText =
  '8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. ' +
  'Control characters, invisible characters and unassigned characters are not allowed.'

const RequestPasswordResetInput = builder.inputType('RequestPasswordResetInput', {
  description: 'Whose password is lost.',
  fields: (t) => ({ email: t.string({ required: true, description: 'Address of the account.' }) }),
})

const ResetPasswordInput = builder.inputType('ResetPasswordInput', {
  description: 'A new password, by a mailed link `…/account/password-reset/{uid}/{token}`.',
  fields: (t) => ({
    uid: t.id({ required: true, description: 'Identifier of the account, from the link.' }),
    token: t.string({ required: true, description: 'Secret from the link.' }),
    newPassword: t.string({ required: true, description: newPasswordText }),
  }),
})

const ChangePasswordInput = builder.inputType('ChangePasswordInput', {
  description: 'A new password in place of the present one.',
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: 'The present one.' }),
    newPassword: t.string({ required: true, description: newPasswordText }),
  }),
})

const RequestPasswordResetPayload = builder.objectRef<{ email: string }>('RequestPasswordResetPayload').implement({
  description: 'The request is taken; whether there is such an account is not told.',
  fields: (t) => ({
    email: t.exposeString('email', { ...characters(254), description: 'The address that was given.' }),
  }),
})

const ResetPasswordPayload = accountPayload(
  'ResetPasswordPayload',
  'The password is set, and every session has ended.',
  'The account as everybody sees it; sign in to see what is private.',
)

const ChangePasswordPayload = accountPayload(
  'ChangePasswordPayload',
  'The password is set, and every session but this one has ended.',
  'You.',
)

builder.mutationFields((t) => ({
  requestPasswordReset: t.field({
    ...openToStaleTokens,
    type: RequestPasswordResetPayload,
    description:
      'Has a link mailed by which a new password can be set within 30 minutes; only the newest link works, and once. ' +
      'Raises VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: RequestPasswordResetInput, required: true, description: 'Whose.' }) },
    resolve: async (_root, { input }, context) => {
      await requestPasswordReset(context, input)
      return { email: normalizeEmail(input.email) }
    },
  }),
  resetPassword: t.field({
    ...openToStaleTokens,
    type: ResetPasswordPayload,
    description:
      'Sets a new password by a mailed link, which verifies the address, too. Raises VALIDATION_FAILED, INVALID_TOKEN.',
    args: { input: t.arg({ type: ResetPasswordInput, required: true, description: 'The link and the password.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await resetPassword(context, input) }),
  }),
  changePassword: t.field({
    type: ChangePasswordPayload,
    description:
      'Sets a new password by the present one; a wrong one is told as VALIDATION_FAILED. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: ChangePasswordInput, required: true, description: 'Both passwords.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await changePassword(context, input) }),
  }),
}))

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
  fields: (t) => ({ email: t.string({ description: 'Address of the account; left out, it is yours.' }) }),
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
    resolve: async (_root, { input }, context) => ({ userId: await changeEmail(context, input) }),
  }),
  changeUsername: t.field({
    type: ChangeUsernamePayload,
    description:
      'Gives your account another username. A wrong password is told as VALIDATION_FAILED. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED.',
    args: { input: t.arg({ type: ChangeUsernameInput, required: true, description: 'The username.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await changeUsername(context, input) }),
  }),
  requestEmailVerification: t.field({
    ...openToStaleTokens,
    type: RequestEmailVerificationPayload,
    description:
      'Has a link mailed by which an address is verified within 24 hours; only the newest link works, and once. ' +
      'Raises NOT_AUTHENTICATED when no address is given, VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: RequestEmailVerificationInput, required: true, description: 'Whose.' }) },
    resolve: async (_root, { input }, context) => ({
      email: await requestEmailVerification(context, omitNullish(input)),
    }),
  }),
  verifyEmail: t.field({
    ...openToStaleTokens,
    type: VerifyEmailPayload,
    description:
      'Verifies an address by a mailed link; one that the account waited for is its address from now on. ' +
      'Raises INVALID_TOKEN, DUPLICATE_EMAIL.',
    args: { input: t.arg({ type: VerifyEmailInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await verifyEmail(context, input) }),
  }),
}))
