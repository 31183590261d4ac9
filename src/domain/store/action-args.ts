/** The arguments of an order's webhook, a JSON object. They may carry a live token, so they lie sealed; null is an empty object. */
import type { Safe } from '../ports.ts'

/** What they are sealed for: owner, purpose and version. */
export const actionArgsContext = (orderId: string) => `order:${orderId}\naction-args\nv1`

/** `json` is the object's text. */
export const sealActionArgs = async (safe: Safe, orderId: string, json: string): Promise<Uint8Array | null> =>
  json === '{}' ? null : safe.seal(json, actionArgsContext(orderId))

export const openActionArgs = async (
  safe: Safe,
  orderId: string,
  sealed: Uint8Array | null,
): Promise<Record<string, unknown>> => (sealed ? JSON.parse(await safe.open(sealed, actionArgsContext(orderId))) : {})
