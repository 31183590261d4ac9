/** Which address a request really came from, where proxies of ours stand in between. */
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Some proxies tell the port, too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/

/** Undefined for what is no address. IPv4 in IPv6's clothes is IPv4. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const bare = v4 ?? v6 ?? text
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined
  const address = ipaddr.process(bare)
  // The zone names an interface of this machine.
  if (address instanceof ipaddr.IPv6) delete address.zoneId
  return address
}

const networkOf = (text: string): Network =>
  text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128]

/**
 * Finds out the address that a request comes from. `trustedProxies`: addresses and CIDRs. What they say in
 * `X-Forwarded-For` is believed, and nobody else.
 */
export function createClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map(networkOf)
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

  /** The right-most address that is no proxy of ours, as `192.0.2.1` or `2001:db8:0:0:0:0:0:1`. What stands left of it anybody may have written. */
  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    const remote = socket.remoteAddress ?? ''
    const forwarded = headers['x-forwarded-for']
    if (!remote.includes(':') && (networks.length === 0 || forwarded === undefined)) return remote
    let client = parseAddress(remote)
    const hops = forwarded === undefined ? [] : String(forwarded).split(',')
    while (client && hops.length && isTrusted(client)) {
      const next = parseAddress(hops.pop()!.trim())
      // A proxy of ours passed on what is no address: the proxy itself is the last thing that is known.
      if (!next) break
      client = next
    }
    return client?.toNormalizedString() ?? remote
  }
}
