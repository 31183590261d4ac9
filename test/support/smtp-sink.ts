/** A mail server of our own, which can misbehave as real ones do. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { atEnd } from './at-end.ts'

/** What the server does with a client. */
export type SmtpMood =
  /** Takes every mail. */
  | 'accept'
  /** Ends each connection at once. */
  | 'refuse'
  /** Takes connections and says nothing. */
  | 'hang'
  /** Takes the mail's bytes and says nothing after them. */
  | 'hang-after-data'
  /** Has a passing trouble with each mail. */
  | '451'
  /** Does not know the recipient. */
  | '550'
  /** Takes no mail from us, whoever the recipient is. */
  | '550 5.7.1'
  | '554'

export interface ReceivedMail {
  from: string
  to: string[]
  /** The message as it came, without the dots added on the way. */
  source: string
}

export interface SmtpSink {
  url: string
  mails: ReceivedMail[]
  mood: SmtpMood
  /** How many clients came. */
  visits: number
}

/** Listens on a free port until the file's last test is over. */
export async function createSmtpSink(mood: SmtpMood = 'accept'): Promise<SmtpSink> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that gives up is part of the tests.
    socket.on('error', () => undefined)
    sink.visits += 1
    serve(socket, sink)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sink: SmtpSink = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails: [],
    mood,
    visits: 0,
  }
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return sink
}

const pathOf = (line: string) => /<(.*)>/.exec(line)?.[1] ?? ''

function serve(socket: Socket, sink: SmtpSink) {
  if (sink.mood === 'refuse') return void socket.destroy()
  if (sink.mood === 'hang') return
  const say = (line: string) => socket.write(`${line}\r\n`)
  let mail: ReceivedMail = { from: '', to: [], source: '' }
  let data: string[] | undefined
  let rest = ''

  const takeData = (line: string) => {
    if (line !== '.') return void data!.push(line.replace(/^\./, ''))
    mail.source = data!.join('\r\n')
    data = undefined
    if (sink.mood === 'hang-after-data') return
    if (sink.mood === '451') return void say('451 4.3.0 try again later')
    sink.mails.push(mail)
    say('250 2.0.0 taken')
  }

  const obey = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO' || verb === 'HELO') return say('250 sink')
    if (verb === 'MAIL') {
      mail = { from: pathOf(line), to: [], source: '' }
      return say('250 2.1.0 ok')
    }
    if (verb === 'RCPT') {
      if (sink.mood === '550') return say(`550 5.1.1 <${pathOf(line)}>: no such person`)
      if (sink.mood === '550 5.7.1') return say(`550 5.7.1 <${pathOf(line)}>: Relaying denied`)
      if (sink.mood === '554') return say(`554 <${pathOf(line)}>: Client host rejected`)
      mail.to.push(pathOf(line))
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
  say('220 sink')
}
