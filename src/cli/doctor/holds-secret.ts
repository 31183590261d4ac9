import { readDatabaseUrl } from '../../platform/database/database-url.ts'
import { isLoopback } from './is-loopback.ts'

const DATABASE = /^postgres(ql)?:\/\//

/** Hosts and folders of sockets that a URL leads to. */
function hostsOf(url: string): string[] {
  if (DATABASE.test(url)) return readDatabaseUrl(url).servers.map(({ host }) => host)
  const { protocol, hostname } = new URL(url)
  // A socket is on this machine.
  return protocol === 'ipc:' ? [] : [hostname]
}

/** Credentials in the authority or the query. A user name alone is a secret to web servers, where tokens are written like that. */
function hasCredentials(url: string): boolean {
  const [authority = ''] = url.slice(url.indexOf('://') + 3).split(/[/?#]/, 1)
  const userInfo = authority.slice(0, Math.max(authority.lastIndexOf('@'), 0))
  const isWeb = /^https?:/i.test(url)
  if (isWeb ? userInfo !== '' : userInfo.includes(':')) return true
  return /[?&](?:ssl)?password=./i.test(url)
}

const isOpen = (url: string) =>
  !hasCredentials(url) && hostsOf(url).every((host) => host === '' || host.startsWith('/') || isLoopback(host))

/**
 * Whether the value of a secret variable is one. A URL that leads to this machine and has no credentials is none: others hold the key of a
 * provider.
 */
export function holdsSecret(value: string): boolean {
  if (!/^[a-z]+:\//i.test(value)) return true
  try {
    return !value.split(/,\s*(?=postgres(?:ql)?:\/\/)/).every(isOpen)
  } catch {
    return true
  }
}
