/** A mail server on the loopback interface that misbehaves as it is told, counts how often it did, and keeps what it took. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type ParsedMail, parseMail } from '../../test/support/parse-mail.ts'
import type { ProofContext } from './proof.ts'

export const troubles = ['refuse', 'hang', '451'] as const
/** `hang`: every other client waits for the greeting, the rest for an answer to the mail it has sent. */
export type Trouble = (typeof troubles)[number]

export interface TakenMail {
  to: string
  source: string
  /** Milliseconds of `performance.now()`. */
  at: number
}

export interface MailServer {
  url: string
  mood: Trouble | 'accept'
  /** Every mail it said to have taken, in order. */
  mails: TakenMail[]
  /** How often it was as bad as it should be. */
  bad: Record<Trouble, number>
}

const addressOf = (line: string) => /<(.*)>/.exec(line)?.[1] ?? ''

function serve(socket: Socket, server: MailServer) {
  const { mood, bad } = server
  if (mood === 'refuse') {
    bad.refuse += 1
    return void socket.resetAndDestroy()
  }
  const isSilent = mood === 'hang' && bad.hang % 2 === 0
  if (mood === 'hang') bad.hang += 1
  if (isSilent) return void socket.resume()

  const say = (line: string) => socket.write(`${line}\r\n`)
  let to = ''
  let data: string[] | undefined
  let rest = ''
  const takeData = (line: string) => {
    if (line !== '.') return void data!.push(line.replace(/^\./, ''))
    const source = data!.join('\r\n')
    data = undefined
    // Whoever came while it was bad is not answered when it is better, either.
    if (mood === 'hang') return
    if (mood === '451') {
      bad['451'] += 1
      return void say('451 4.3.0 try again later')
    }
    server.mails.push({ to, source, at: performance.now() })
    say('250 2.0.0 taken')
  }
  const obey = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO' || verb === 'HELO') return say('250 server')
    if (verb === 'MAIL') return say('250 2.1.0 ok')
    if (verb === 'RCPT') {
      to = addressOf(line)
      return say('250 2.1.5 ok')
    }
    if (verb === 'DATA') {
      data = []
      return say('354 go on')
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    return say('502 not known here')
  }
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (data) takeData(line)
      else obey(line)
    }
  })
  say('220 server')
}

export async function startMailServer({ afterwards }: Pick<ProofContext, 'afterwards'>): Promise<MailServer> {
  const sockets = new Set<Socket>()
  const server: MailServer = { url: '', mood: 'accept', mails: [], bad: { refuse: 0, hang: 0, 451: 0 } }
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    serve(socket, server)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  server.url = `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`
  return server
}

/** What an account's mails say of themselves: `password-reset-<request>`. */
const idOf = ({ headers }: ParsedMail) => /<(.*)@/.exec(headers['message-id']?.[0] ?? '')?.[1] ?? ''

export interface ReadMail extends TakenMail {
  id: string
  text: string
}

/** Mails of a kind, such as `password-reset`, that came after the first `skip` of all; oldest first. */
export const mailsOf = ({ mails }: MailServer, template: string, skip = 0): ReadMail[] =>
  mails.slice(skip).flatMap((mail) => {
    const parsed = parseMail(mail.source)
    const id = idOf(parsed)
    return id.startsWith(`${template}-`) ? [{ ...mail, id, text: parsed.text }] : []
  })

export interface Link {
  /** Identifier of the account. */
  uid: string
  token: string
}

const RESET_LINK = /\/account\/password-reset\/(user_\w{26})\/([\w-]{43})/

/** Raises when there is no link in it. */
export function resetLinkIn({ text }: Pick<ReadMail, 'text'>): Link {
  const [, uid, token] = RESET_LINK.exec(text) ?? []
  if (!uid || !token) throw new Error('A mail carries no link.')
  return { uid, token }
}
