/** A request written to a socket piece by piece, as no decent client would. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface RawCall {
  url: string
  method: string
  path: string
  headers: Record<string, string | number>
  /** Sent one after the other, with `pause` milliseconds between. */
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>
  pause?: number
  /** What comes then: the connection is broken off, half closed, or kept until the answer comes. */
  end: 'break' | 'close' | 'wait'
}

export interface RawAnswer {
  /** 0 when there was none. */
  status: number
  head: string
  body: string
  /** From the first byte sent to the first byte of the answer. */
  milliseconds: number
  /** Bytes of the body that were written before the answer came. */
  sent: number
}

/** Milliseconds. */
const PATIENCE = 60_000

const headOf = ({ method, path, headers }: RawCall) =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ host: 'annal.test', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Whether an answer is there as a whole: its length is told, or it has no body. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))
  if (length) return Buffer.byteLength(text) >= end + 4 + Number(length[1])
  return !/^transfer-encoding: chunked/im.test(text.slice(0, end)) || text.endsWith('0\r\n\r\n')
}

/** Never raises. */
export async function rawCall(call: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(call.url)
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  let firstByte = 0
  let sent = 0
  const begun = performance.now()
  const ended = new Promise<void>((resolve) => {
    const finish = () => resolve()
    socket.setTimeout(PATIENCE, () => socket.destroy())
    socket.once('close', finish).on('error', () => {})
    socket.on('data', (part) => {
      firstByte ||= performance.now()
      text += part.toString('latin1')
      if (isWhole(text)) finish()
    })
  })
  const write = (bytes: Buffer | string) =>
    new Promise<void>((resolve) => {
      if (socket.destroyed) return resolve()
      socket.once('close', resolve)
      socket.write(bytes, () => {
        socket.off('close', resolve)
        resolve()
      })
    })
  await write(headOf(call))
  for await (const piece of call.pieces) {
    if (socket.destroyed || firstByte) break
    await write(piece)
    sent += piece.length
    if (call.pause) await delay(call.pause)
  }
  if (call.end === 'close') socket.end()
  if (call.end !== 'break') await ended
  socket.destroy()
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s)
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
    head,
    body,
    milliseconds: (firstByte || performance.now()) - begun,
    sent,
  }
}

export const BOUNDARY = 'the-end-of-a-part'
export const formType = `multipart/form-data; boundary=${BOUNDARY}`
export const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
export const fileHead = (name: string, filename: string, type = 'image/png') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`
export const formEnd = `\r\n--${BOUNDARY}--\r\n`

/** As a chunk of a body whose length nobody knows. */
export const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
