import { readDatabaseUrl } from '../../platform/database/database-url.ts'
import { isLoopback } from './is-loopback.ts'

const DATABASE = /^postgres(ql)?:\/\//

/** Hosts and folders of sockets that a database URL, or a list of them, leads to. */
const databaseHosts = (value: string): string[] =>
  value.split(/,\s*(?=postgres(?:ql)?:\/\/)/).flatMap((url) => readDatabaseUrl(url).servers.map(({ host }) => host))

function hostsOf(value: string): string[] {
  if (DATABASE.test(value)) return databaseHosts(value)
  const { protocol, hostname } = new URL(value)
  // A socket is on this machine.
  return protocol === 'ipc:' ? [] : [hostname]
}

/** Credentials in the authority or the query. A user name alone is a secret to web servers, where tokens are written like that. */
const hasCredentials = (value: string) =>
  /:\/\/[^/?#]*:[^/?#]*@|[?&](?:ssl)?password=./i.test(value) || /^https?:\/\/[^/?#]+@/i.test(value)

/**
 * Whether the value of a secret variable is one. A URL that leads to this machine and has no credentials is none: others hold the key of a
 * provider.
 */
export function holdsSecret(value: string): boolean {
  if (!/^[a-z]+:\/\//i.test(value) && !value.startsWith('ipc:')) return true
  try {
    return (
      hasCredentials(value) || hostsOf(value).some((host) => host !== '' && !host.startsWith('/') && !isLoopback(host))
    )
  } catch {
    return true
  }
}
