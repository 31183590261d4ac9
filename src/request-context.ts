/** What a request comes with, of its headers: who asks, by which repetition, and what they must be shown. The same at both doors. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Context, Identity } from './context.ts'
import { validationFailed } from './domain/errors.ts'
import type { RequestWatch } from './domain/telemetry.ts'

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

const anonymousAt = (address: string): Identity => ({
  actor: { kind: 'anonymous', address, service: undefined },
  hasStaleToken: false,
})

interface ContextOptions {
  /** The caller is anonymous. */
  ignoresCredentials?: boolean
  /** The request counts against no limit. The caller is anonymous. */
  isUncounted?: boolean
  /** Raises what keeps somebody from asking, before anything else of the request is judged. */
  admit?: (identity: Identity) => void
}

interface Dependencies extends Pick<Context, 'services' | 'database' | 'linkConfig'> {
  /** The log of a request. */
  logOf(res: ServerResponse): Context['log']
  watch: RequestWatch
  /** Where a request comes from, past proxies that are trusted. */
  clientAddress(req: IncomingMessage): string
  /** Returns the base URL for links in the response. */
  baseUrlOf(req: IncomingMessage): string
}

/** Makes contexts of requests. Making one raises AUTHENTICATION_FAILED, VALIDATION_FAILED, and the errors of `admit`. */
export function createRequestContexts({
  services,
  database,
  linkConfig,
  logOf,
  watch,
  clientAddress,
  baseUrlOf,
}: Dependencies) {
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
      : await services.accounts.authenticate({ ...credentials, address })
    if (identity.actor.kind === 'user') watch.identified(res, identity.actor.id)
    admit?.(identity)
    // What else the headers say is looked at once the request is counted, and whoever asks may ask.
    const key = headers['idempotency-key'] as string | undefined
    if (key !== undefined && (key === '' || key.length > MAX_KEY_LENGTH)) {
      throw validationFailed({ idempotencyKey: [`Expected 1 to ${MAX_KEY_LENGTH} characters.`] })
    }
    return {
      ...identity,
      baseUrl: baseUrlOf(req),
      services,
      database,
      linkConfig,
      log: logOf(res),
      idempotency: { key, replayed: false },
    }
  }
}
