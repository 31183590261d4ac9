import { expect } from 'vitest'
import { statuses } from '../../src/http/error-status.ts'
import { type ErrorCode, errorCodes } from '../../src/shared/errors.ts'
import type { Answer } from './http-client.ts'

const told = ({ sent, status, text, headers }: Answer) =>
  `\n${sent}\n→ ${status} ${text.slice(0, 2000)}\nX-Request-Id: ${headers.get('x-request-id')}\n`

/** The code of a refusal by either door; undefined when the request succeeded. */
export function codeOf({ status, body }: Answer): ErrorCode | undefined {
  if (body?.errors) return body.errors[0]?.extensions?.code
  if (status < 400) return undefined
  return errorCodes.find((code) => statuses[code].type === body?.error?.type)
}

/** Fails with request, answer and request id unless the answer is this refusal, in the door's own shape. */
export function expectError(answer: Answer, code: ErrorCode): Answer {
  expect(codeOf(answer), `expected ${code}${told(answer)}`).toBe(code)
  if (answer.body.errors) {
    // What is expected is no fault of ours: only who is to ask again is told so by the status.
    const isFault = statuses[code].status >= 500
    expect(answer.status, told(answer)).toBeLessThan(isFault ? 600 : 500)
  } else {
    const { error, status_code, detail } = answer.body
    expect(answer.status, told(answer)).toBe(statuses[code].status)
    expect({ status_code, detail }, told(answer)).toEqual({ status_code: answer.status, detail: error.message })
  }
  return answer
}

/** Fails with request, answer and request id unless the request succeeded; returns GraphQL's data or the REST body. */
// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
export function expectOk(answer: Answer): any {
  expect(codeOf(answer), told(answer)).toBeUndefined()
  expect(answer.status, told(answer)).toBeLessThan(400)
  return answer.body?.data ?? answer.body
}
