/**
 * Connections to public addresses only. The address is checked three times: a literal address is never looked up, the DNS answer of a name can
 * change, and only the open socket knows its address.
 */
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isInternalAddress, isInternalHost } from './webhook-url.ts'

/** IP addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>

/** The target of a connection is an internal address. */
export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError'
}

const DNS_TIMEOUT_MS = 3_000

/** Resolves by DNS. Unlike `lookup`, it occupies no thread of the process while a name server hangs. */
export const resolveByDns: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length) return addresses
  throw answers.find((answer) => answer.status === 'rejected')?.reason
}

/** Resolves as the operating system does, including its hosts file. */
export const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

interface GuardOptions {
  allowInternal: boolean
  resolve: Resolve
  /** Milliseconds until the connection is open. */
  timeout: number
}

/** Creates a function that opens sockets. Connections to internal addresses fail with InternalAddressError unless `allowInternal` is set. */
export function createGuardedConnector({ allowInternal, resolve, timeout }: GuardOptions): buildConnector.connector {
  const lookup: LookupFunction = (host, { all }, callback) => {
    resolve(host)
      .then((addresses) => {
        if (!allowInternal && addresses.some(isInternalAddress)) throw new InternalAddressError()
        return addresses.map((address) => ({ address, family: isIP(address) }))
      })
      .then(
        (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      )
  }
  const open = buildConnector({ lookup, timeout, allowH2: false, maxCachedSessions: 0 })

  return (options, callback) => {
    if (!allowInternal && isInternalHost(options.hostname)) return callback(new InternalAddressError(), null)
    open(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      if (!allowInternal && isInternalAddress(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(new InternalAddressError(), null)
      }
      callback(null, socket)
    })
  }
}
