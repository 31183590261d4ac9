/**
 * A receiver of webhooks that verifies, recognises repetitions and answers at once. Needs Node 22.18 or later, and `standardwebhooks` alone:
 *   WEBHOOK_SECRET=whsec_… PORT=8080 node docs/examples/webhook-receiver.ts
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const { WEBHOOK_SECRET = '', PORT = '8080' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)

/** Ids of events that were taken. Yours stand in the database, written in the transaction of their effect. */
const taken = new Set<string>()

interface OrderPaid {
  type: 'order.paid'
  data: { order: { id: string; total_cost: string }; action_args: Record<string, unknown> }
}

function carryOut({ data: { order } }: OrderPaid) {
  process.stdout.write(`${order.id} was paid: ${order.total_cost}\n`)
}

const server = createServer(async (req, res) => {
  try {
    // The signature is over the body as it came.
    const event = webhook.verify(await text(req), req.headers as Record<string, string>) as OrderPaid
    const id = String(req.headers['webhook-id'])
    if (!taken.has(id)) {
      taken.add(id)
      // After the answer: Annal waits for 15 seconds only.
      if (event.type === 'order.paid') setImmediate(carryOut, event)
    }
    res.writeHead(204).end()
  } catch (error) {
    // A call that breaks off is the caller's trouble: anybody can make one, and it must not end this process.
    const isForged = error instanceof WebhookVerificationError
    res.writeHead(isForged ? 401 : 500).end(isForged ? 'The signature is not valid.' : '')
  }
})

server.listen(Number(PORT), () => process.stdout.write(`Listening on port ${PORT}\n`))
