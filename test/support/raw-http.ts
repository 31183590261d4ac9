/** Sends raw bytes over a socket: malformed requests, or requests in pieces. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface RawTalk {
  url: string
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>
  pause?: number
  end: 'break' | 'close' | 'wait' | 'listen'
  patience?: number
}

export type RawAnswer = { status: number; head: string; body: string; bytes: Buffer; milliseconds: number }

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))
  if (length) return text.length >= end + 4 + Number(length[1])
  return !/^transfer-encoding: chunked/im.test(text.slice(0, end)) || text.endsWith('0\r\n\r\n')
}

function firstIn(bytes: Buffer): Pick<RawAnswer, 'status' | 'head' | 'body'> {
  const answer = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(bytes.toString('latin1'))
  const [, status = '0', head = '', rest = ''] = answer ?? []
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? rest.length)
  return { status: Number(status), head, body: rest.slice(0, length) }
}

const write = (socket: Socket, bytes: Buffer) =>
  new Promise<void>((resolve) => {
    if (socket.destroyed) return resolve()
    socket.once('close', resolve)
    socket.write(bytes, () => {
      socket.off('close', resolve)
      resolve()
    })
  })

/** Never raises. */
export async function talkRaw({ url, pieces, pause, end, patience = 60_000 }: RawTalk): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const heard: Buffer[] = []
  let firstByte = 0
  const begun = performance.now()
  const ended = new Promise<void>((resolve) => {
    socket.setTimeout(patience, () => socket.destroy())
    socket.once('close', () => resolve()).on('error', () => {})
    socket.on('data', (part: Buffer) => {
      firstByte ||= performance.now()
      heard.push(part)
      if (end !== 'listen' && isWhole(Buffer.concat(heard).toString('latin1'))) resolve()
    })
  })
  for await (const piece of pieces) {
    if (socket.destroyed || firstByte) break
    await write(socket, piece)
    if (pause) await delay(pause)
  }
  if (end === 'close' || end === 'listen') socket.end()
  if (end !== 'break') await ended
  socket.destroy()
  const bytes = Buffer.concat(heard)
  return { ...firstIn(bytes), bytes, milliseconds: (firstByte || performance.now()) - begun }
}

export interface RawCall extends RawTalk {
  method: string
  path: string
  headers: Record<string, string | number>
}

async function* requestOf({ method, path, headers, pieces }: RawCall) {
  const lines = Object.entries({ host: 'annal.test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  yield Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  yield* pieces
}

/** Sends a request with its own headers and a body in pieces. */
export const callRaw = (call: RawCall): Promise<RawAnswer> => talkRaw({ ...call, pieces: requestOf(call) })

export const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
