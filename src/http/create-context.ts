/** Creates the context of a request from its headers: the caller, the idempotency key and the base URL. Both APIs use it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../context.ts'
import type { Context, SharedContext } from '../services-context.ts'
import { validationFailed } from '../shared/errors.ts'
import type { RequestWatch } from '../telemetry/telemetry-types.ts'

const SECRET_HEADER = /^(token|bearer)\s+(\S+)\s*$/i
const MAX_KEY_LENGTH = 255

/** The secret of `Authorization: token <secret>`; an unknown scheme counts as none. */
const tokenOf = (header: string | undefined) => (header === undefined ? undefined : SECRET_HEADER.exec(header)?.[2])

const noCredentials = { token: undefined, apiKey: undefined }
const credentialsOf = (headers: IncomingHttpHeaders) => ({
  token: tokenOf(headers.authorization),
  // Apps that were built without a key send an empty one.
  apiKey: (headers['x-api-key'] as string | undefined) || undefined,
})

/** Largest body except for files, in bytes. A body without a declared length counts as one of this size. */
const MAX_BODY_BYTES = 1_000_000
/** Bytes of a body that cost as much as a request. */
const BYTES_PER_REQUEST = 100_000

/** Returns how many requests of the caller's quota a request uses: one, and one more for every 100 KB to parse. Counted before the body is read. */
function costOf({ headers }: IncomingMessage): number {
  const declared = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : MAX_BODY_BYTES)
  return 1 + Math.floor(Math.min(Number(declared) || 0, MAX_BODY_BYTES) / BYTES_PER_REQUEST)
}

const anonymousAt = (address: string): Identity => ({
  actor: { kind: 'anonymous', address, service: undefined },
  hasStaleToken: false,
})

interface ContextOptions {
  /** The caller is anonymous. */
  ignoresCredentials?: boolean
  /** The request counts against no limit. The caller is anonymous. */
  isUncounted?: boolean
  /** Throws if the caller may not send this request. Called before anything else of the request is validated. */
  admit?: (identity: Identity) => void
}

interface Dependencies {
  shared: SharedContext
  /** The log of a request. */
  logOf(res: ServerResponse): Context['requestLog']
  watch: RequestWatch
  /** Where a request comes from, past proxies that are trusted. */
  clientAddress(req: IncomingMessage): string
  /** Returns the base URL for links in the response. */
  baseUrlOf(req: IncomingMessage): string
}

/** Creates contexts of requests. Creating one throws THROTTLED, VALIDATION_FAILED, and the errors of `admit`. */
export function createRequestContexts({ shared, logOf, watch, clientAddress, baseUrlOf }: Dependencies) {
  return async (
    req: IncomingMessage,
    res: ServerResponse,
    { ignoresCredentials = false, isUncounted = false, admit }: ContextOptions = {},
  ): Promise<Context> => {
    const { headers } = req
    const credentials = ignoresCredentials ? noCredentials : credentialsOf(headers)
    const address = clientAddress(req)
    const identity = isUncounted
      ? anonymousAt(address)
      : await shared.services.accounts.authenticate({ ...credentials, address })
    if (identity.actor.kind === 'user') watch.identified(res, identity.actor.id)
    if (!isUncounted) await shared.services.requestQuota.consume(identity.actor, costOf(req))
    admit?.(identity)
    // Other headers are validated after the request is counted and the caller is authorized.
    const key = headers['idempotency-key'] as string | undefined
    if (key !== undefined && (key === '' || key.length > MAX_KEY_LENGTH)) {
      throw validationFailed({ idempotencyKey: [`Expected 1 to ${MAX_KEY_LENGTH} characters.`] })
    }
    return {
      ...shared,
      ...identity,
      baseUrl: baseUrlOf(req),
      requestLog: logOf(res),
      idempotency: { key, replayed: false },
    }
  }
}
