/** Calls of webhooks. */

/** One call of a webhook's receiver. */
export interface WebhookCall {
  url: string
  /** The event's id; the same at every attempt. */
  id: string
  /** When it is made: receivers refuse a call that tells a wrong time. */
  at: Date
  /** JSON text; the same at every attempt. */
  body: string
  /** Sign the call: one secret, or two during a rotation. */
  secrets: readonly string[]
  /** Texts that must not be kept should the receiver send them back. */
  redacted: readonly string[]
}

/** What came of a call. */
export interface WebhookOutcome {
  /** Left out when no answer came. */
  statusCode?: number
  /** Why it failed, in a sentence; left out when the receiver took the event (2xx). */
  failure?: string | undefined
  /** The first characters of the answer. */
  response: string
  /** Seconds after which the receiver wants to be asked again. */
  retryAfter?: number | undefined
  /** Milliseconds. */
  duration: number
}

/** What calls receivers of webhooks. */
export interface WebhookSender {
  /** Makes one attempt. A receiver's trouble is an outcome, never an error. */
  send(call: WebhookCall): Promise<WebhookOutcome>
}
