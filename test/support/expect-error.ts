import { expect } from 'vitest'
import { statuses } from '../../src/http/error-status.ts'
import { type ErrorCode, errorCodes } from '../../src/shared/errors.ts'
import type { Answer } from './http-client.ts'

const reported = ({ sent, status, text, headers }: Answer) =>
  `\n${sent}\n→ ${status} ${text.slice(0, 2000)}\nX-Request-Id: ${headers.get('x-request-id')}\n`

/** Returns the error code of a response of either API, or undefined for a success. */
export function codeOf({ status, body }: Answer): ErrorCode | undefined {
  if (body?.errors) return body.errors[0]?.extensions?.code
  if (status < 400) return undefined
  return errorCodes.find((code) => statuses[code].type === body?.error?.type)
}

/** Fails unless the response is this error in the format of its API. The message contains request, response and request ID. */
export function expectError(answer: Answer, code: ErrorCode): Answer {
  expect(codeOf(answer), `expected ${code}${reported(answer)}`).toBe(code)
  if (answer.body.errors) {
    // GraphQL uses a status of 500 or more only for errors that clients should retry.
    const isFault = statuses[code].status >= 500
    expect(answer.status, reported(answer)).toBeLessThan(isFault ? 600 : 500)
  } else {
    const { error, status_code, detail } = answer.body
    expect(answer.status, reported(answer)).toBe(statuses[code].status)
    expect({ status_code, detail }, reported(answer)).toEqual({ status_code: answer.status, detail: error.message })
  }
  return answer
}

/** Fails unless the request succeeded. Returns the GraphQL data or the REST body. */
// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
export function expectOk(answer: Answer): any {
  expect(codeOf(answer), reported(answer)).toBeUndefined()
  expect(answer.status, reported(answer)).toBeLessThan(400)
  return answer.body?.data ?? answer.body
}
