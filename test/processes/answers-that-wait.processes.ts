import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'

setFlagsFromString('--expose-gc')
// Otherwise V8 flushes unused bytecode gradually, which looks like memory that a response released.
setFlagsFromString('--no-flush-bytecode')
const collectGarbage = runInNewContext('gc') as () => void

const app = await createTestApp()
const user = await app.newUser()
const { id } = await user.register({ public_access: 'true' })
// Longer than the socket buffers of the system.
await app.sql(`update assets set meta = to_jsonb(repeat('"', 1900000))::text`)

const query = JSON.stringify({ query: `{ asset(id: "${id}") { meta } }` })

function inUse(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

it.each([
  ['GraphQL', `POST /graphql HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${query.length}`, query],
  ['REST', `GET /api/v3/assets/${id}/ HTTP/1.1`, ''],
])('a %s response to a slow reader uses no more memory than its length', async (_, head, body) => {
  const { hostname, port } = new URL(app.url)
  const ask = (read: (bytes: number) => void) => {
    const socket = connect(Number(port), hostname)
    socket.on('data', (part) => read(part.length)).write(`${head}\r\nHost: annal.test\r\n\r\n${body}`)
    return socket
  }
  const end = async (socket: ReturnType<typeof ask>) => {
    socket.destroy()
    await eventually(() => socket.closed)
  }
  let length = 0
  const reader = ask((bytes) => {
    length += bytes
  })
  await eventually(() => length > 7_600_000)
  await end(reader)

  const idler = ask(() => idler.pause())
  let held = 0
  try {
    await eventually(() => idler.bytesRead > 0)
    // Garbage of previous requests is collected when several measurements in a row are equal.
    const last: number[] = []
    await eventually(
      () => last.unshift(inUse()),
      () => last.length > 5 && Math.max(...last.slice(0, 5)) - last[0]! < 100_000,
    )
    held = last[0]!
    expect(idler.closed).toBe(false)
  } finally {
    await end(idler)
  }
  await eventually(
    () => (held - inUse()) / length,
    (share) => share > 0.3 && share < 1.5,
  )
})
