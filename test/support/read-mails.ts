import type { MailServer } from './mail-server.ts'
import { type ParsedMail, parseMail } from './parse-mail.ts'

export interface ReadMail extends ParsedMail {
  id: string
  address: string
  at: number
}

/** Returns mails of a kind, such as `password-reset`, oldest first. Optionally only to one address, without the first `skip`. */
export const mailsOf = (
  { mails }: Pick<MailServer, 'mails'>,
  template: string,
  { to: only, skip = 0 }: { to?: string; skip?: number } = {},
): ReadMail[] =>
  mails.slice(skip).flatMap(({ to: [address = ''], source, at }) => {
    if (only !== undefined && address !== only) return []
    const mail = parseMail(source)
    const id = /<(.*)@/.exec(mail.headers['message-id']?.[0] ?? '')?.[1] ?? ''
    return id.startsWith(`${template}-`) ? [{ ...mail, id, address, at }] : []
  })

export type MailedLink = { uid: string; token: string }

const LINK = /\/account\/(?:password-reset|email-verification)\/(user_\w{26})\/([\w-]{43})/

/** Throws an error if the mail contains no link. */
export function linkIn({ text }: Pick<ParsedMail, 'text'>): MailedLink {
  const [, uid, token] = LINK.exec(text) ?? []
  if (!uid || !token) throw new Error('A mail carries no link.')
  return { uid, token }
}
