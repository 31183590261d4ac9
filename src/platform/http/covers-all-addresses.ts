import ipaddr from 'ipaddr.js'

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
