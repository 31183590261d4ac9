/** What a receiver reads from the feed when it missed the call: the very bodies of the calls in the feed of an app's owner. */
import type { Database } from '../../db/database-types.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { createWebhookEventLookup, isSale, writePayload } from '../webhooks/delivery-payload.ts'

/** Finds the bodies of webhook calls by the events that they told of; questions that come together are one statement. */
export function createEventData({ database, actionArgs }: { database: Database; actionArgs: ActionArgs }) {
  const find = createWebhookEventLookup(database)

  /** The body of the call for an event, by the event's UUID; null when it is none that a call tells of. */
  return async (id: string): Promise<Record<string, unknown> | null> => {
    const event = await find(id)
    if (!event) return null
    return JSON.parse(
      writePayload(event, isSale(event) ? await actionArgs.openForDisplay(event.order_id, event.action_args) : {}),
    )
  }
}
