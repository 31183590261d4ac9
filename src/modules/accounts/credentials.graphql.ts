import { builder, omitNullish, openToStaleTokens, shortText } from '../../graphql/builder.ts'
import { normalizeEmail } from './account-input.ts'
import { changeEmail, changePassword, changeUsername } from './change-account.ts'
import { requestEmailVerification, requestPasswordReset, resetPassword, verifyEmail } from './mailed-links.ts'
import { accountPayload } from './users.graphql.ts'

/** Description of an input field for a new password. */
export const newPasswordText =
  '8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. ' +
  'Control characters, invisible characters and unassigned characters are not allowed.'

const RequestPasswordResetInput = builder.inputType('RequestPasswordResetInput', {
  description: 'The account with the lost password.',
  fields: (t) => ({ email: t.string({ required: true, description: 'Address of the account.' }) }),
})

const ResetPasswordInput = builder.inputType('ResetPasswordInput', {
  description: 'A new password and the values of a mailed link `…/account/password-reset/{uid}/{token}`.',
  fields: (t) => ({
    uid: t.id({ required: true, description: 'Identifier of the account, from the link.' }),
    token: t.string({ required: true, description: 'Secret from the link.' }),
    newPassword: t.string({ required: true, description: newPasswordText }),
  }),
})

const ChangePasswordInput = builder.inputType('ChangePasswordInput', {
  description: 'A new password.',
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: 'The present one.' }),
    newPassword: t.string({ required: true, description: newPasswordText }),
  }),
})

const RequestPasswordResetPayload = builder.objectRef<{ email: string }>('RequestPasswordResetPayload').implement({
  description: 'The request was accepted. The response does not show whether the account exists.',
  fields: (t) => ({ email: t.exposeString('email', shortText(254, 'The given address.')) }),
})

const ResetPasswordPayload = accountPayload(
  'ResetPasswordPayload',
  'The password is set, and every session has ended.',
  'The new account with its public fields. Sign in to read the private fields.',
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
      'Mails a link to set a new password. It works once, within 30 minutes. Only the newest link works. ' +
      'Raises VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: RequestPasswordResetInput, required: true, description: 'The account to read.' }) },
    resolve: async (_root, { input }, context) => {
      await requestPasswordReset(context, input)
      return { email: normalizeEmail(input.email) }
    },
  }),
  resetPassword: t.field({
    ...openToStaleTokens,
    type: ResetPasswordPayload,
    description:
      'Sets a new password with a mailed link. This also verifies the address. Raises VALIDATION_FAILED, INVALID_TOKEN.',
    args: { input: t.arg({ type: ResetPasswordInput, required: true, description: 'The link and the password.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await resetPassword(context, input) }),
  }),
  changePassword: t.field({
    type: ChangePasswordPayload,
    description:
      'Changes your password. A wrong current password returns VALIDATION_FAILED. ' +
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
    newEmail: t.string({ required: true, description: 'E-mail address. It receives all notifications.' }),
  }),
})

const ChangeUsernameInput = builder.inputType('ChangeUsernameInput', {
  description: 'Another username for your account.',
  fields: (t) => ({
    currentPassword: t.string({ required: true, description: currentPassword }),
    newUsername: t.string({
      required: true,
      description: 'Unique username of at most 21 characters. Case does not matter.',
    }),
  }),
})

const VerifyEmailInput = builder.inputType('VerifyEmailInput', {
  description: 'Values of a mailed link `…/account/email-verification/{uid}/{token}`.',
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
  'The new account with its public fields. Sign in to read the private fields.',
)

const RequestEmailVerificationInput = builder.inputType('RequestEmailVerificationInput', {
  description: 'The address to verify.',
  fields: (t) => ({ email: t.string({ description: 'The e-mail address. Defaults to the address of your account.' }) }),
})

const RequestEmailVerificationPayload = builder
  .objectRef<{ email: string }>('RequestEmailVerificationPayload')
  .implement({
    description: 'The request was accepted. The response does not show whether the address belongs to an account.',
    fields: (t) => ({ email: t.exposeString('email', shortText(254, 'The given address, or yours.')) }),
  })

builder.mutationFields((t) => ({
  changeEmail: t.field({
    type: ChangeEmailPayload,
    description:
      'Changes the e-mail address of your account. The new address gets a link to verify it, and the old address is notified. ' +
      'If the service requires verified addresses, the new address is `pendingEmail` until it is verified. ' +
      'A wrong password returns VALIDATION_FAILED. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_EMAIL, THROTTLED.',
    args: { input: t.arg({ type: ChangeEmailInput, required: true, description: 'The address.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await changeEmail(context, input) }),
  }),
  changeUsername: t.field({
    type: ChangeUsernamePayload,
    description:
      'Changes your username. A wrong password returns VALIDATION_FAILED. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, DUPLICATE_USERNAME, THROTTLED.',
    args: { input: t.arg({ type: ChangeUsernameInput, required: true, description: 'The username.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await changeUsername(context, input) }),
  }),
  requestEmailVerification: t.field({
    ...openToStaleTokens,
    type: RequestEmailVerificationPayload,
    description:
      'Mails a link that verifies an address. It works once, within 24 hours. Only the newest link works. ' +
      'Raises NOT_AUTHENTICATED if an anonymous caller gives no address, VALIDATION_FAILED, THROTTLED.',
    args: {
      input: t.arg({ type: RequestEmailVerificationInput, required: true, description: 'The account to read.' }),
    },
    resolve: async (_root, { input }, context) => ({
      email: await requestEmailVerification(context, omitNullish(input)),
    }),
  }),
  verifyEmail: t.field({
    ...openToStaleTokens,
    type: VerifyEmailPayload,
    description:
      'Verifies an e-mail address with a mailed link. A pending address becomes the address of the account. ' +
      'Raises INVALID_TOKEN, DUPLICATE_EMAIL.',
    args: { input: t.arg({ type: VerifyEmailInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input }, context) => ({ userId: await verifyEmail(context, input) }),
  }),
}))
