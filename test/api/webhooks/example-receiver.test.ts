import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createWebhookSender } from '../../../src/modules/webhooks/webhook-sender.ts'
import { findFreePort } from '../../support/free-port.ts'

async function breakOff(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.end('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{')
  socket.resume()
  await once(socket, 'close')
}

it('the documented example receiver processes a signed call once, and rejects forged calls', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const port = await findFreePort()
  const receiver = spawn(process.execPath, ['docs/examples/webhook-receiver.ts'], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = text(receiver.stdout)
  try {
    await once(receiver.stdout, 'data')
    await breakOff(port)
    const { send } = createWebhookSender({ allowInsecure: true })
    const data = { order: { id: 'order_1', total_cost: '2.5' }, action_args: {} }
    const call = {
      url: `http://127.0.0.1:${port}/`,
      id: 'event_1',
      at: new Date(),
      body: JSON.stringify({ type: 'order.paid', data }),
      secrets: [secret],
      redacted: [],
    }
    expect((await send(call)).statusCode).toBe(204)
    expect((await send(call)).statusCode).toBe(204)
    const forged = await send({ ...call, id: 'event_2', secrets: [`whsec_${randomBytes(32).toString('base64')}`] })
    expect(forged.statusCode).toBe(401)
  } finally {
    receiver.kill()
  }
  expect((await said).match(/order_1 was paid: 2\.5/g)).toHaveLength(1)
})
