/** Describes webhook calls in the OpenAPI document. The code that sends webhooks uses the same schemas. */
import { z } from 'zod'
import { orderPaidBody, orderRefundedBody, webhookTestBody } from '../../modules/webhooks/delivery-payload.ts'
import { describeSchedule } from '../../modules/webhooks/webhook-schedule.ts'
import type { JsonSchema } from './components.ts'

interface Webhook {
  operationId: string
  summary: string
  description: string
  body: z.ZodObject
}

const webhooks: Record<string, Webhook> = {
  'order.paid': {
    operationId: 'onOrderPaid',
    summary: 'An order was paid',
    description: 'Execute the action of the order. The order succeeds when your webhook returns a 2xx status.',
    body: orderPaidBody,
  },
  'order.refunded': {
    operationId: 'onOrderRefunded',
    summary: 'An order was refunded',
    description:
      'The order was refunded fully or partially. Use the total amounts: events may arrive in any order, and `order.refunded` can arrive before `order.paid`.',
    body: orderRefundedBody,
  },
  'webhook.test': {
    operationId: 'onWebhookTest',
    summary: 'An administrator tests the receiver',
    description: 'A test event has no order. Your webhook should return a 2xx status.',
    body: webhookTestBody,
  },
}

const headers = z.object({
  'webhook-id': z.string().describe('ID of the event, the same in every attempt. Use it to ignore duplicates.'),
  'webhook-timestamp': z
    .string()
    .regex(/^\d+$/)
    .describe('Time of this attempt, in seconds since 1970. Reject calls that differ by more than five minutes.'),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the HMAC-SHA256, in base64, of `{webhook-id}.{webhook-timestamp}.{body}` with the secret of the network app. While a secret is rotated there are two signatures, separated by a space; accept either. Verify the received bytes.',
    ),
  traceparent: z.string().optional().describe('W3C trace context. Sent only if tracing is enabled.'),
})

const responses = {
  '2XX': { description: 'The event is delivered. Annal reads at most 64 KiB of the response body.' },
  410: { description: 'The webhook is disabled until its URL is set again.' },
  429: {
    description: 'The delivery is retried after the time in `Retry-After`, at most 24 hours.',
    headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  },
  default: {
    description: `The attempt failed. A missing response within 15 seconds has the same effect. The delivery is retried after ${describeSchedule()}. Redirects are not followed.`,
  },
}

interface Tools {
  schemaOf(schema: z.ZodType): JsonSchema
  parametersIn(place: 'header', fields: z.ZodObject): Record<string, unknown>[]
  exampleOf(operationId: string): { example?: unknown }
}

/** An OpenAPI runtime expression that reads the request that creates the network app. */
export const WEBHOOK_ADDRESS = '{$request.body#/webhook_url}'

/** Describes webhooks as callbacks: for `webhooks` of OpenAPI 3.1, openapi-generator generates code that does not compile. */
export function describeWebhooks({ schemaOf, parametersIn, exampleOf }: Tools): Record<string, object> {
  const described = Object.entries(webhooks).map(([type, { operationId, summary, description, body }]) => {
    const content = { schema: schemaOf(body), ...exampleOf(operationId) }
    const post = {
      ...{ operationId, tags: ['Webhooks'], summary, description, security: [] },
      parameters: parametersIn('header', headers),
      requestBody: { required: true, content: { 'application/json': content } },
      responses,
    }
    return [type, { [WEBHOOK_ADDRESS]: { post } }]
  })
  return Object.fromEntries(described)
}
