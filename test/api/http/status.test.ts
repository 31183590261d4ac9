import { expect, it } from 'vitest'
import { refusalHeaders, statuses } from '../../../src/http/error-status.ts'
import { type ErrorCode, errorCodes } from '../../../src/shared/errors.ts'

const published: [string, number][] = [
  ['asset_commit_insufficient_fund', 400],
  ['asset_write_permission_denied', 403],
  ['authentication_failed', 401],
  ['duplicate_asset_not_allowed', 400],
  ['duplicate_email', 400],
  ['duplicate_username', 400],
  ['idempotency_key_reused', 422],
  ['incorrect_login_credentials', 400],
  ['method_not_allowed', 405],
  ['not_authenticated', 401],
  ['parse_error', 400],
  ['permission_denied', 403],
  ['resource_not_found', 404],
  ['throttled', 429],
  ['unsupported_media_type', 415],
  ['untrusted_client', 401],
  ['validation_error', 400],
]

const codeOfType = (type: string) => errorCodes.find((code) => statuses[code].type === type)

it.each(published)('returns the error type %s with status %d', (type, status) => {
  const code = codeOfType(type)
  expect(code, `no code is shown as ${type}`).toBeDefined()
  expect(statuses[code!].status).toBe(status)
})

it('assigns every error code a 4xx or 5xx status and a unique type', () => {
  expect(Object.keys(statuses).sort()).toEqual([...errorCodes].sort())
  expect(new Set(Object.values(statuses).map(({ type }) => type)).size).toBe(errorCodes.length)
  for (const { status } of Object.values(statuses)) expect(status).toBeGreaterThanOrEqual(400)
})

it('sends WWW-Authenticate with 401 responses only', () => {
  const reported = errorCodes.filter((code: ErrorCode) => 'WWW-Authenticate' in refusalHeaders({ code, message: '' }))
  expect(reported).toEqual(errorCodes.filter((code) => statuses[code].status === 401))
})
