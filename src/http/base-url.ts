import type { IncomingMessage } from 'node:http'

/** A host name or address with an optional port, and nothing that would change the meaning of a URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/** Returns whether a host name, as `URL` normalizes it, always leads to this machine. */
const isLoopback = (hostname: string) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(?:\.\d+){3}$/.test(hostname)

/**
 * Returns a function that finds the base URL for the links in a response, without a trailing slash. That is `configured` if it is set. Otherwise it is
 * the host of the request if that is a loopback host: an emulator or a container may reach the service by another name or port than `fallback` has.
 * Any other host is ignored, because a stranger can send any Host header.
 */
export function createBaseUrl({ configured, fallback }: { configured: string | undefined; fallback: string }) {
  return ({ headers: { host = '' } }: Pick<IncomingMessage, 'headers'>): string => {
    if (configured !== undefined) return configured
    const url = HOST.test(host) ? URL.parse(`http://${host}`) : null
    return url && isLoopback(url.hostname) ? url.origin : fallback
  }
}
