/** Why a call failed, in sentences for an administrator. They name no address: what is inside is not told. */
import { InternalAddressError } from './guarded-connector.ts'

/** Why a URL is not called that leads inside. */
export const INTERNAL = 'The URL leads to an internal address, which is never called.'
/** Why a URL is not called that is not https. */
export const ONLY_HTTPS = 'Only https:// is called.'

const sentences: Record<string, string> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  EAI_AGAIN: 'The host name could not be looked up.',
  ESERVFAIL: 'The host name could not be looked up.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  UND_ERR_CONNECT_TIMEOUT: 'No connection came about in time.',
  ETIMEDOUT: 'No connection came about in time.',
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too large.',
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Describes the error of a failed call; `timeout` in milliseconds. */
export function failureOf(error: unknown, timeout: number): string {
  if (error instanceof InternalAddressError) return INTERNAL
  if (error instanceof Error && error.name === 'TimeoutError')
    return `No answer came within ${timeout / 1_000} seconds.`
  const code = codeOf(error)
  if (code === undefined) return 'The call failed.'
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL)/.test(code)) {
    return `The receiver's certificate or TLS is not accepted (${code}).`
  }
  if (code === 'ECONNRESET' && error instanceof Error && error.message === 'socket hang up')
    return 'The connection was closed before an answer came.'
  const sentence = sentences[code]
  if (sentence) return sentence
  return code.startsWith('HPE_') ? 'The answer is not HTTP.' : `The call failed (${code}).`
}

/** Describes the failure of a final response; undefined for 2xx. */
export function failureOfStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status < 200) return `The receiver answered ${status}; no switch of protocols was requested.`
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`
  return `The receiver answered ${status}.`
}
