/** Types of webhook calls. */

/** One call of the receiver of a webhook. */
export interface WebhookCall {
  url: string
  /** ID of the event. The same in each attempt. */
  id: string
  /** Time of the call. Receivers reject a call with a wrong time. */
  at: Date
  /** JSON. The same in each attempt. */
  body: string
  /** Secrets that sign the call. Two during a rotation. */
  secrets: readonly string[]
  /** Texts to remove from the response before it is stored. */
  redacted: readonly string[]
}

/** Outcome of an attempt. */
export interface WebhookOutcome {
  /** Omitted if there was no response. */
  statusCode?: number
  /** Reason of the failure, as a sentence. Omitted if the receiver accepted the event (2xx). */
  failure?: string | undefined
  /** First characters of the response. */
  response: string
  /** Seconds after which the receiver wants the next attempt. */
  retryAfter?: number | undefined
  /** Milliseconds. */
  duration: number
  /** Error because of which the call was never made. */
  cause?: unknown
}

/** Calls receivers of webhooks. */
export interface WebhookSender {
  /** Makes one attempt. An error of the receiver is an outcome. */
  send(call: WebhookCall): Promise<WebhookOutcome>
}

/** Outcomes that the database has not stored yet, by UUID of the delivery, oldest first. `before`: number of earlier attempts. */
export type UnsavedOutcomes = Map<string, { before: number; outcome: WebhookOutcome }>
