/**
 * What DATABASE_URL says, in libpq's form: `postgresql://user:password@one:5432,two:5432/name?target_session_attrs=read-write`.
 * The driver knows one host only, and nothing of which one takes writes.
 */

/** A server, as the URL names it. */
export interface Server {
  /** For people: `db1:5432`. */
  readonly name: string
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  /** The URL of this server alone. */
  readonly url: string
}

/** The servers of one cluster. */
export interface DatabaseServers {
  readonly servers: readonly Server[]
  /** Whether only the one that takes writes is wanted. */
  readonly isSought: boolean
}

const FIRST_PORT = 5432
const LAST_PORT = 65_535

/** Scheme, user and password, hosts, path, query. */
const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/
/** A host with or without a port, as it stands before the path; an IPv6 address is in brackets. */
const place = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d+))?$/i

const asked = ['read-write', 'primary']
const plain = 'postgresql://user:password@host:5432/name'
const several = 'postgresql://user:password@one:5432,two:5432/name?target_session_attrs=read-write'

const escapes = 'in a password, / ? # @ : and , are written as %2F %3F %23 %40 %3A and %2C'

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')
const withBrackets = (host: string) => (host.includes(':') ? `[${host}]` : host)

/** The ports of so many hosts; undefined where they do not fit. */
function portsOf(given: readonly (string | undefined)[], count: number): number[] | undefined {
  if (given.length !== 1 && given.length !== count) return undefined
  const ports = Array.from({ length: count }, (_, at) => Number(given[given.length === 1 ? 0 : at] || FIRST_PORT))
  return ports.every((port) => Number.isInteger(port) && port > 0 && port <= LAST_PORT) ? ports : undefined
}

/**
 * The servers that a URL names, each by itself. Raises an Error whose message tells what is expected, and nothing of the URL: it
 * holds a password.
 */
export function readDatabaseUrl(url: string): DatabaseServers {
  const [, scheme, user = '', authority, path, search = ''] = shape.exec(url) ?? []
  if (scheme === undefined || authority === undefined) throw new Error(`Expected ${plain}, or ${several}; ${escapes}.`)
  const query = new URLSearchParams(search)
  const places = authority.split(',').map((each) => place.exec(each))
  const hosts = (query.get('host')?.split(',') ?? places.map((found) => found?.[1] ?? '')).map(withoutBrackets)
  const ports = portsOf(query.get('port')?.split(',') ?? places.map((found) => found?.[2]), hosts.length)
  if (places.includes(null) || !ports) {
    throw new Error(`Expected ${plain}, each port from 1 to ${LAST_PORT}; ${escapes}.`)
  }
  const wanted = query.get('target_session_attrs')
  if (wanted !== null && !asked.includes(wanted)) {
    throw new Error('Expected target_session_attrs=read-write: Annal writes, and all other servers refuse that.')
  }
  if (hosts.length > 1 && wanted === null) {
    throw new Error('Several hosts need target_session_attrs=read-write, so that the one that takes writes is found.')
  }
  if (hosts.length > 1 && hosts.includes('')) throw new Error(`A host has no name. Expected ${several}.`)
  const names = hosts.map((host, at) => `${host || 'localhost'}:${ports[at]}`)
  if (new Set(names).size < names.length) throw new Error('The same host stands there twice.')
  if (wanted === null) return { servers: [{ name: names[0]!, host: hosts[0]!, port: ports[0]!, url }], isSought: false }
  for (const name of ['host', 'port', 'target_session_attrs']) query.delete(name)
  const servers = hosts.map((host, at): Server => {
    const own = new URLSearchParams(query)
    const isSocket = host.startsWith('/')
    if (isSocket) own.set('host', host)
    const where = isSocket ? 'localhost' : withBrackets(host || 'localhost')
    const rest = own.size > 0 ? `?${own}` : ''
    const server = { name: names[at]!, host: host || 'localhost', port: ports[at]! }
    return { ...server, url: `${scheme}${user}${where}:${server.port}${path}${rest}` }
  })
  return { servers, isSought: true }
}
