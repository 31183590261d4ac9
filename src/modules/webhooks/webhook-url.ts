/** Which URLs may be a webhook. Asked when one is set; where a name leads is asked again at every call. */
import { isInternalHost } from './internal-address.ts'

const MAX_LENGTH = 2048
/** Ports below these belong to services that are no receivers of webhooks. */
const FIRST_FREE_PORT = 1024

/** How strict the rules are. */
export interface WebhookUrlOptions {
  /** Development: http, and receivers on this machine or site. */
  allowInsecure: boolean
}

/** Whether the text holds white space or control characters, which URL parsers drop or move about. */
const hasOddCharacters = (text: string) => /[\s\p{Cc}\p{Cf}\\]/u.test(text)

/** What is wrong with a webhook's URL, in a sentence; undefined when it may be called. */
export function webhookUrlProblem(url: string, { allowInsecure }: WebhookUrlOptions): string | undefined {
  if (url.length > MAX_LENGTH) return `Ensure this field has no more than ${MAX_LENGTH} characters.`
  if (hasOddCharacters(url) || !URL.canParse(url)) return 'Enter a valid URL.'
  const { protocol, hostname, port, username, password } = new URL(url)
  if (protocol !== 'https:' && !(allowInsecure && protocol === 'http:')) return 'Enter a URL that starts with https://.'
  if (username || password) return 'A webhook URL must not carry credentials.'
  if (allowInsecure) return port === '0' ? 'Port 0 cannot be called.' : undefined
  if (isInternalHost(hostname)) return 'A webhook must not lead to an internal address.'
  // The URL parser leaves the scheme's own port out.
  if (port && Number(port) < FIRST_FREE_PORT) return `Use the port of https, or one from ${FIRST_FREE_PORT} on.`
  return undefined
}
