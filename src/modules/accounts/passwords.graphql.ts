import { builder } from '../../graphql/builder.ts'
import { openToStaleTokens } from '../../graphql/expired-token.ts'
import { characters } from '../../graphql/limits/document-cost.ts'
import { accountPayload } from './accounts.graphql.ts'
import { normalizeEmail } from './email-address.ts'

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
    resolve: async (_root, { input }, { actor, services, idempotency }) => {
      await services.passwords.requestReset(actor, input, idempotency)
      return { email: normalizeEmail(input.email) }
    },
  }),
  resetPassword: t.field({
    ...openToStaleTokens,
    type: ResetPasswordPayload,
    description:
      'Sets a new password by a mailed link, which verifies the address, too. Raises VALIDATION_FAILED, INVALID_TOKEN.',
    args: { input: t.arg({ type: ResetPasswordInput, required: true, description: 'The link and the password.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.passwords.reset(actor, input, idempotency),
    }),
  }),
  changePassword: t.field({
    type: ChangePasswordPayload,
    description:
      'Sets a new password by the present one; a wrong one is told as VALIDATION_FAILED. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED.',
    args: { input: t.arg({ type: ChangePasswordInput, required: true, description: 'Both passwords.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      userId: await services.passwords.change(actor, input, idempotency),
    }),
  }),
}))

/** Description of an input field for a new password. */
export const newPasswordText =
  '8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. ' +
  'Control characters, invisible characters and unassigned characters are not allowed.'
