/** A mail server that wants a password, takes every mail, and repeats to a client what it does not like. */

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import type { ProofContext } from './proof.ts'

export interface SunkMail {
  to: string
  /** As it came, quoted-printable and its soft line breaks undone. */
  text: string
}

export interface MailSink {
  port: number
  mails: SunkMail[]
  /** What clients gave as their password, decoded. */
  passwords: Set<string>
  /** How many sign-ins are refused before one is taken. */
  refuseNext: number
}

const plainOf = (source: string) =>
  source
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

function serve(socket: Socket, sink: MailSink) {
  let rest = ''
  let to = ''
  let data: string[] | undefined
  const say = (line: string) => socket.write(`${line}\r\n`)
  const signIn = (line: string) => {
    const given = Buffer.from(line.split(' ')[2] ?? '', 'base64')
      .toString()
      .split('\0')
    sink.passwords.add(given[2] ?? '')
    if (sink.refuseNext <= 0) return say('235 2.7.0 welcome')
    sink.refuseNext -= 1
    return say(`535 5.7.8 not with ${line}, which is ${given.join(' ')}`)
  }
  const obey = (line: string) => {
    if (data) {
      if (line !== '.') return data.push(line.replace(/^\./, ''))
      sink.mails.push({ to, text: plainOf(data.join('\r\n')) })
      data = undefined
      return say('250 2.0.0 taken')
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO') return say('250-sink\r\n250 AUTH PLAIN')
    if (verb === 'AUTH') return signIn(line)
    if (verb === 'MAIL') return say('250 2.1.0 ok')
    if (verb === 'RCPT') {
      to = /<(.*)>/.exec(line)?.[1] ?? ''
      return say('250 2.1.5 ok')
    }
    if (verb === 'DATA') {
      data = []
      return say('354 go on')
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    return say('502 not known here')
  }
  socket.on('error', () => undefined)
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()!
    for (const line of lines) obey(line)
  })
  say('220 sink')
}

export async function startMailSink({ afterwards }: Pick<ProofContext, 'afterwards'>): Promise<MailSink> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
    serve(socket, sink)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const sink: MailSink = {
    port: (server.address() as AddressInfo).port,
    mails: [],
    passwords: new Set(),
    refuseNext: 0,
  }
  return sink
}

const LINK = /\/account\/([a-z-]+)\/(user_\w{26})\/([\w-]{43})/

/** The newest link of a kind that an address got. */
export const linkIn = ({ mails }: MailSink, to: string, kind: 'password-reset' | 'email-verification') => {
  const found = mails
    .filter((mail) => mail.to === to)
    .map(({ text }) => LINK.exec(text))
    .findLast((match) => match?.[1] === kind)
  return found ? { uid: found[2]!, token: found[3]! } : undefined
}
