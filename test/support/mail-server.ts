/** A mail server that simulates errors of real servers and stores the received mails. */
import { createServer, type Socket } from 'node:net'
import { type AtEnd, listen } from './listen.ts'

export type MailMood =
  | 'accept'
  | 'refuse'
  /** Accepts connections, but never responds. */
  | 'hang'
  /** Receives the mail, but never responds to it. */
  | 'hang-after-data'
  /** Rejects each mail with a temporary error. */
  | '451'
  /** Rejects the login, and repeats the client's credentials in the error. */
  | '535'
  /** Rejects the recipient as unknown. */
  | '550'
  /** Rejects the sender for all recipients. */
  | '550 5.7.1'
  | '554'

export type TakenMail = { from: string; to: string[]; source: string; at: number }

export interface MailServer {
  url: string
  port: number
  mails: TakenMail[]
  mood: MailMood | ((visit: number) => MailMood)
  visits: number
  passwords: Set<string>
}

/** Listens until the end of the test file. */
export async function startMailServer(atEnd: AtEnd, mood: MailMood = 'accept'): Promise<MailServer> {
  const server: MailServer = { url: '', port: 0, mails: [], mood, visits: 0, passwords: new Set() }
  const listener = createServer((socket) => {
    // Tests include clients that disconnect.
    socket.on('error', () => undefined)
    const mood = typeof server.mood === 'function' ? server.mood(server.visits) : server.mood
    server.visits += 1
    serve(socket, mood, server)
  })
  server.port = await listen(listener, atEnd)
  server.url = `smtp://127.0.0.1:${server.port}`
  return server
}

const addressIn = (line: string) => /<(.*)>/.exec(line)?.[1] ?? ''

const refusals: Partial<Record<MailMood, (address: string) => string>> = {
  '550': (address) => `550 5.1.1 <${address}>: no such person`,
  '550 5.7.1': (address) => `550 5.7.1 <${address}>: Relaying denied`,
  '554': (address) => `554 <${address}>: Client host rejected`,
}

function serve(socket: Socket, mood: MailMood, server: MailServer) {
  if (mood === 'refuse') return void socket.resetAndDestroy()
  if (mood === 'hang') return void socket.resume()
  const say = (line: string) => socket.write(`${line}\r\n`)
  let from = ''
  let to: string[] = []
  let data: string[] | undefined
  let rest = ''

  const takeData = (line: string) => {
    if (line !== '.') return data!.push(line.replace(/^\./, ''))
    const source = data!.join('\r\n')
    data = undefined
    if (mood === 'hang-after-data') return
    if (mood === '451') return say('451 4.3.0 try again later')
    server.mails.push({ from, to, source, at: performance.now() })
    return say('250 2.0.0 taken')
  }

  const signIn = (line: string) => {
    const given = Buffer.from(line.split(' ')[2] ?? '', 'base64')
      .toString()
      .split('\0')
    server.passwords.add(given[2] ?? '')
    return say(mood === '535' ? `535 5.7.8 not with ${line}, which is ${given.join(' ')}` : '235 2.7.0 welcome')
  }

  const takeRecipient = (address: string) => {
    const refusal = refusals[mood]?.(address)
    if (refusal) return say(refusal)
    to.push(address)
    return say('250 2.1.5 ok')
  }

  const obey = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO' || verb === 'HELO') return say('250-server\r\n250 AUTH PLAIN')
    if (verb === 'AUTH') return signIn(line)
    if (verb === 'MAIL') {
      from = addressIn(line)
      to = []
      return say('250 2.1.0 ok')
    }
    if (verb === 'RCPT') return takeRecipient(addressIn(line))
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
