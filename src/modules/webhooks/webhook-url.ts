/** Rules for URLs and addresses of webhooks. The URL is checked when it is set, and its addresses at each call. */
import ipaddr from 'ipaddr.js'
import { trimEnd } from '../../shared/text.ts'

/** Public IPv6 addresses. Addresses that embed an IPv4 address (mapped, compatible, NAT64) are outside of it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Metadata service of Azure, which has a public address. */
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

/** Local names: RFC 6761, 6762 and 8375, ICANN's `.internal`, and common names of routers. */
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|localnet|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/
/** Public names of cloud metadata services. */
const METADATA_NAME = /^(metadata|instance-data|metadata-service)\./

/** Returns true if a host is internal. `host`: address or name, normalized by the WHATWG URL parser. */
export function isInternalHost(host: string): boolean {
  const name = trimEnd(host.replace(/^\[(.*)\]$/, '$1'), '.')
  if (ipaddr.isValid(name)) return isInternalAddress(name)
  // The search list of the machine completes a name without a dot.
  return !name.includes('.') || INTERNAL_NAME.test(name) || METADATA_NAME.test(name)
}

const MAX_LENGTH = 2048
/** Lower ports belong to other services, such as SSH or SMTP. */
const FIRST_FREE_PORT = 1024

export interface WebhookUrlOptions {
  /** Allows http and internal addresses, for development. */
  allowInsecure: boolean
}

/** URL parsers remove or change white space and control characters. */
const hasUnsafeCharacters = (text: string) => /[\s\p{Cc}\p{Cf}\\]/u.test(text)

/** Returns the problem of a webhook URL as a sentence, or undefined if it is valid. */
export function webhookUrlProblem(url: string, { allowInsecure }: WebhookUrlOptions): string | undefined {
  if (url.length > MAX_LENGTH) return `Ensure this field has no more than ${MAX_LENGTH} characters.`
  if (hasUnsafeCharacters(url) || !URL.canParse(url)) return 'Enter a valid URL.'
  const { protocol, hostname, port, username, password } = new URL(url)
  if (protocol !== 'https:' && !(allowInsecure && protocol === 'http:')) return 'Enter a URL that starts with https://.'
  if (username || password) return 'A webhook URL must not carry credentials.'
  if (allowInsecure) return port === '0' ? 'Port 0 cannot be called.' : undefined
  if (isInternalHost(hostname)) return 'A webhook must not lead to an internal address.'
  // The URL parser removes the default port.
  if (port && Number(port) < FIRST_FREE_PORT) return `Use the port of https, or one from ${FIRST_FREE_PORT} on.`
  return undefined
}
