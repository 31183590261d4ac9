import { parseDatabaseUrl } from '../../db/parse-database-url.ts'
import { isLoopback } from './is-loopback.ts'

const DATABASE = /^postgres(ql)?:\/\//

/** Returns the hosts and socket folders of a URL. */
function hostsOf(url: string): string[] {
  if (DATABASE.test(url)) {
    const { hostname, searchParams } = parseDatabaseUrl(url)
    return [searchParams.get('host') ?? hostname]
  }
  const { protocol, hostname } = new URL(url)
  // A socket is on this machine.
  return protocol === 'ipc:' ? [] : [hostname]
}

/** Returns whether a URL has credentials in its authority or query. Web servers use a user name alone as a token. */
function hasCredentials(url: string): boolean {
  const [authority = ''] = url.slice(url.indexOf('://') + 3).split(/[/?#]/, 1)
  const userInfo = authority.slice(0, Math.max(authority.lastIndexOf('@'), 0))
  const isWeb = /^https?:/i.test(url)
  if (isWeb ? userInfo !== '' : userInfo.includes(':')) return true
  return /[?&](?:ssl)?password=./i.test(url)
}

const isOpen = (url: string) =>
  !hasCredentials(url) && hostsOf(url).every((host) => host === '' || host.startsWith('/') || isLoopback(host))

/** Returns whether the value of a secret variable is a secret. A URL on this machine without credentials is not a secret. */
export function holdsSecret(value: string): boolean {
  if (!/^[a-z]+:\//i.test(value)) return true
  try {
    return !isOpen(value)
  } catch {
    return true
  }
}
