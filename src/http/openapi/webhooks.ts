/** Describes the calls to the webhook of a network app. Their bodies are typed by the same schemas. */
import { z } from 'zod'
import { orderPaidBody, orderRefundedBody, webhookTestBody } from '../../modules/webhooks/webhook-bodies.ts'
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
    description: 'Carry its action out. The order is a success once this call is taken.',
    body: orderPaidBody,
  },
  'order.refunded': {
    operationId: 'onOrderRefunded',
    summary: 'Money of an order was given back',
    description:
      'By an administrator, whole or in part. Events come in no order: go by the totals. One may come without a payment before it.',
    body: orderRefundedBody,
  },
  'webhook.test': {
    operationId: 'onWebhookTest',
    summary: 'An administrator tries the receiver',
    description: 'It is about no order: there is nothing to do but to answer.',
    body: webhookTestBody,
  },
}

/** What every call carries besides its body, as Standard Webhooks has it. */
const headers = z.object({
  'webhook-id': z
    .string()
    .describe('Identifier of the event. It is the same in every attempt: whoever knows it has the event already.'),
  'webhook-timestamp': z
    .string()
    .regex(/^\d+$/)
    .describe('When this attempt was made, in seconds since 1970. Refuse what is more than five minutes off.'),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the HMAC-SHA256, in base64, of `{webhook-id}.{webhook-timestamp}.{body}` under the secret of the network app. Two, with a space between them, while a secret is rotated: either one will do. Verify it on the bytes as they came.',
    ),
  traceparent: z.string().optional().describe('The trace it belongs to (W3C), where traces are kept.'),
})

/** What follows from an answer. */
const responses = {
  '2XX': { description: 'Taken. The status counts; of the body 64 KiB are read.' },
  410: { description: 'The receiver is gone: the webhook is disabled until its URL is set again.' },
  429: {
    description: 'Not now: called again after `Retry-After`, in 24 hours at most.',
    headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  },
  default: {
    description:
      'A failure, as is no answer within 15 seconds: called again, ten times in about three days. Redirects are not followed.',
  },
}

interface Tools {
  schemaOf(schema: z.ZodType): JsonSchema
  parametersIn(place: 'header', fields: z.ZodObject): Record<string, unknown>[]
  /** A body that was really sent, by the operation's identifier. */
  exampleOf(operationId: string): unknown
}

/** The address of a call: that of the network app which is created. */
export const WEBHOOK_ADDRESS = '{$request.body#/webhook_url}'

/**
 * Describes the calls by the type of their events, as callbacks of the operation that creates a network app. In `webhooks` of OpenAPI 3.1,
 * openapi-generator makes API classes of them that do not compile.
 */
export function describeWebhooks({ schemaOf, parametersIn, exampleOf }: Tools): Record<string, object> {
  const described = Object.entries(webhooks).map(([type, { operationId, summary, description, body }]) => {
    const example = exampleOf(operationId)
    const content = { schema: schemaOf(body), ...(example !== undefined && { example }) }
    return [
      type,
      {
        [WEBHOOK_ADDRESS]: {
          post: {
            ...{ operationId, tags: ['Webhooks'], summary, description, security: [] },
            parameters: parametersIn('header', headers),
            requestBody: { required: true, content: { 'application/json': content } },
            responses,
          },
        },
      },
    ]
  })
  return Object.fromEntries(described)
}
