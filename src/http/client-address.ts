/** Finds the address of a caller behind trusted proxies. */
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Fastify's `trustProxy` would keep it. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/

/** Returns undefined for a text that is not an address. An IPv4-mapped IPv6 address becomes IPv4. */
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

/** Returns a function that finds the address of the caller. `trustedProxies`: addresses and CIDRs whose `X-Forwarded-For` is used. */
export function createClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map(networkOf)
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

  /** Returns the right-most address that is not a trusted proxy, as `192.0.2.1` or `2001:db8:0:0:0:0:0:1`. Any caller can write those left of it. */
  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    const remote = socket.remoteAddress ?? ''
    const forwarded = headers['x-forwarded-for']
    if (!remote.includes(':') && (networks.length === 0 || forwarded === undefined)) return remote
    let client = parseAddress(remote)
    const hops = forwarded === undefined ? [] : String(forwarded).split(',')
    while (client && hops.length && isTrusted(client)) {
      const next = parseAddress(hops.pop()!.trim())
      // The proxy passed on a text that is not an address, so the proxy itself is the last known address.
      if (!next) break
      client = next
    }
    return client?.toNormalizedString() ?? remote
  }
}

interface Range {
  first: bigint
  last: bigint
}

const toNumber = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)

function rangeOf([address, prefix]: [ipaddr.IPv4 | ipaddr.IPv6, number], bits: number): Range {
  const size = 1n << BigInt(bits - prefix)
  const first = (toNumber(address) / size) * size
  return { first, last: first + size - 1n }
}

/** Returns whether addresses and CIDRs together contain every IPv4 address, or every IPv6 address. */
export function coversAllAddresses(networks: readonly string[]): boolean {
  const parsed = networks.map((network) =>
    network.includes('/')
      ? ipaddr.parseCIDR(network)
      : ([ipaddr.parse(network), ipaddr.parse(network).kind() === 'ipv4' ? 32 : 128] satisfies [unknown, number]),
  )
  return (['ipv4', 'ipv6'] as const).some((kind) => {
    const bits = kind === 'ipv4' ? 32 : 128
    const ranges = parsed
      .filter(([address]) => address.kind() === kind)
      .map((network) => rangeOf(network, bits))
      .sort((a, b) => (a.first < b.first ? -1 : 1))
    let next = 0n
    for (const { first, last } of ranges) {
      if (first > next) return false
      if (last >= next) next = last + 1n
    }
    return next === 1n << BigInt(bits)
  })
}
