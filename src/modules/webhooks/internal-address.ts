/** Which network addresses and host names are nobody's outside: a webhook must never be able to reach them. */
import ipaddr from 'ipaddr.js'
import { trimEnd } from '../../shared/text.ts'

/** Where the IPv6 addresses of the internet are; whatever embeds an IPv4 address (mapped, compatible, NAT64 …) is elsewhere. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Public by number, yet answered by the machine's own cloud: Azure's metadata. */
const CLOUD = new Set(['168.63.129.16'])

/** A literal IP address that is not plainly one of the internet. What is no address counts as internal. */
export function isInternalAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return true
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return isInternalAddress(address.toIPv4Address().toString())
    return !address.match(GLOBAL_IPV6) || address.range() !== 'unicast'
  }
  return address.range() !== 'unicast' || CLOUD.has(address.toString())
}

/** Names that never leave a machine or a site (RFC 6761, 6762, 8375, ICANN's `.internal`, and what routers make up). */
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|localnet|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/
/** Cloud metadata under names of the internet. */
const METADATA_NAME = /^(metadata|instance-data|metadata-service)\./

/** The host of a WHATWG URL: an address as the URL parser normalised it, or a name. */
export function isInternalHost(host: string): boolean {
  const name = trimEnd(host.replace(/^\[(.*)\]$/, '$1'), '.')
  if (ipaddr.isValid(name)) return isInternalAddress(name)
  // A name without a dot is completed by the machine's own search list.
  return !name.includes('.') || INTERNAL_NAME.test(name) || METADATA_NAME.test(name)
}
