/** Rules for webhook URLs. The URL is validated when it is set, and its IP addresses are checked at each call. */
import ipaddr from 'ipaddr.js'
import { trimEnd } from '../../shared/text.ts'

/** Range of public IPv6 addresses. It excludes addresses that embed an IPv4 address (mapped, compatible, NAT64). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Addresses of cloud metadata services that look public: the metadata service of Azure. */
const CLOUD = new Set(['168.63.129.16'])

/** Returns true unless the text is a public IP address. */
export function isInternalAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return true
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return isInternalAddress(address.toIPv4Address().toString())
    return !address.match(GLOBAL_IPV6) || address.range() !== 'unicast'
  }
  return address.range() !== 'unicast' || CLOUD.has(address.toString())
}

/** Matches local host names: RFC 6761, 6762 and 8375, ICANN's `.internal`, and common names of routers. */
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|localnet|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/
/** Matches public host names of cloud metadata services. */
const METADATA_NAME = /^(metadata|instance-data|metadata-service)\./

/** Returns true if a host is internal. `host`: address or name, normalized by the WHATWG URL parser. */
export function isInternalHost(host: string): boolean {
  const name = trimEnd(host.replace(/^\[(.*)\]$/, '$1'), '.')
  if (ipaddr.isValid(name)) return isInternalAddress(name)
  // A name without a dot is internal, because the DNS search list of the machine completes it.
  return !name.includes('.') || INTERNAL_NAME.test(name) || METADATA_NAME.test(name)
}

const MAX_LENGTH = 2048
/** Lowest permitted port other than 443. Lower ports belong to other services, such as SSH or SMTP. */
const FIRST_FREE_PORT = 1024

export interface WebhookUrlOptions {
  /** Allows http and internal addresses, for development. */
  allowInsecure: boolean
}

/** Returns whether a URL contains white space or control characters, which URL parsers remove or change. */
const hasUnsafeCharacters = (text: string) => /[\s\p{Cc}\p{Cf}\\]/u.test(text)

/** Returns the problem of a webhook URL as a sentence, or undefined if it is valid. */
export function webhookUrlProblem(url: string, { allowInsecure }: WebhookUrlOptions): string | undefined {
  if (url.length > MAX_LENGTH) return `Ensure this field has no more than ${MAX_LENGTH} characters.`
  if (hasUnsafeCharacters(url) || !URL.canParse(url)) return 'Enter a valid URL.'
  const { protocol, hostname, port, username, password } = new URL(url)
  if (protocol !== 'https:' && !(allowInsecure && protocol === 'http:')) return 'Enter a URL that starts with https://.'
  if (username || password) return 'A webhook URL must not contain credentials.'
  if (allowInsecure) return port === '0' ? 'A webhook URL must not use port 0.' : undefined
  if (isInternalHost(hostname)) return 'A webhook URL must not lead to an internal address.'
  // The URL parser removes the default port.
  if (port && Number(port) < FIRST_FREE_PORT) return `Use port 443, or a port from ${FIRST_FREE_PORT} on.`
  return undefined
}
