/** What a receiver reads from the feed when it missed the call: the very bodies of the calls in the feed of an app's owner. */
import type { Database } from '../ports.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { isSale, writePayload } from '../store/delivery-payload.ts'
import { createToldEvents } from '../store/told-events.ts'

/** Finds the bodies of webhook calls by the events that they told of; questions that come together are one statement. */
export function createEventData({ database, actionArgs }: { database: Database; actionArgs: ActionArgs }) {
  const find = createToldEvents(database)

  /** The body of the call for an event, by the event's UUID; null when it is none that a call tells of. */
  return async (id: string): Promise<Record<string, unknown> | null> => {
    const told = await find(id)
    if (!told) return null
    return JSON.parse(writePayload(told, isSale(told) ? await actionArgs.show(told.order_id, told.action_args) : {}))
  }
}
