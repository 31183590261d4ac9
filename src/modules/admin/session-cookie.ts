/** The cookie of an administrator's session. Under https its name keeps other hosts of the domain from setting it. */
import type { IncomingMessage } from 'node:http'

const nameFor = (isSecure: boolean) => (isSecure ? '__Host-annal-admin' : 'annal-admin')
const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/** The header `Set-Cookie` that begins a session. It ends with the browser at the latest. */
export const sessionCookie = (secret: string, isSecure: boolean) =>
  `${nameFor(isSecure)}=${secret}; ${attributes(isSecure)}`

/** The header `Set-Cookie` that ends it. */
export const clearedCookie = (isSecure: boolean) => `${nameFor(isSecure)}=; Max-Age=0; ${attributes(isSecure)}`

/** The secret that a request's cookie carries, if it has one. */
export function secretOf({ headers }: IncomingMessage, isSecure: boolean): string | undefined {
  const name = `${nameFor(isSecure)}=`
  const found = (headers.cookie ?? '').split(/;\s*/).find((pair) => pair.startsWith(name))
  return found?.slice(name.length) || undefined
}
