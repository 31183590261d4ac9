/**
 * Connections to the internet outside and nowhere else. The address is checked three times, because each check has its
 * hole: a literal address is never looked up, a name may lead anywhere and elsewhere the next time, and only the open
 * socket knows where it leads.
 */
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isInternalAddress, isInternalHost } from './internal-address.ts'

/** IP addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>

/** A connection would have led to an address inside. */
export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError'
}

/** Milliseconds until a name server is asked again. */
const DNS_TIMEOUT_MS = 3_000

/** By DNS alone. It takes none of the process's few threads, which a name server that hangs would block for everybody. */
export const resolveByDns: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length) return addresses
  throw answers.find((answer) => answer.status === 'rejected')?.reason
}

/** As the machine resolves names, with its hosts file. */
export const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

interface GuardOptions {
  /** Whether internal addresses may be called. */
  allowInternal: boolean
  resolve: Resolve
  /** Milliseconds for a connection. */
  timeout: number
}

/**
 * Opens sockets. A connection to an internal address fails with InternalAddressError unless `allowInternal` is set.
 * `timeout`: milliseconds until the connection is open.
 */
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
