/** The arguments of an order's webhook, a JSON object. They may carry a live token, so they lie sealed; null is an empty object. */

import type { EnvelopeCipher } from '../../keys/key-types.ts'
import { LostKeyError } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'

/** What they are sealed for: owner, purpose and version. */
export const actionArgsContext = (orderId: string) => `order:${orderId}\naction-args\nv1`

/** Orders whose arguments do not open, of which the log was told; then it is told anew. */
const MOST_TOLD = 10_000

/** Seals and opens arguments of orders; what `createActionArgs` makes. */
export type ActionArgs = ReturnType<typeof createActionArgs>

/**
 * The arguments of orders, sealed each for its own order; what does not open is told in the log once for each order and
 * process.
 */
export function createActionArgs({ envelopeCipher, log }: { envelopeCipher: EnvelopeCipher; log: Pick<Log, 'error'> }) {
  const told = new Set<string>()
  /** What was sealed here, for as long as somebody holds the sealed bytes: the answer that shows it need not open it. */
  const sealedHere = new WeakMap<Uint8Array, string>()

  /** For whoever acts on them. Raises LostKeyError when they do not open. */
  const open = async (orderId: string, sealed: Uint8Array | null): Promise<Record<string, unknown>> =>
    sealed ? JSON.parse(sealedHere.get(sealed) ?? (await envelopeCipher.open(sealed, actionArgsContext(orderId)))) : {}

  return {
    /** `json` is the object's text. */
    async seal(orderId: string, json: string): Promise<Uint8Array | null> {
      if (json === '{}') return null
      const sealed = await envelopeCipher.seal(json, actionArgsContext(orderId))
      sealedHere.set(sealed, json)
      return sealed
    },

    open,

    /** For showing. What does not open is shown as empty, so that it fails nothing else, and is told in the log once. */
    async show(orderId: string, sealed: Uint8Array | null): Promise<Record<string, unknown>> {
      try {
        return await open(orderId, sealed)
      } catch (error) {
        if (!(error instanceof LostKeyError)) throw error
        if (told.size >= MOST_TOLD) told.clear()
        if (!told.has(orderId)) {
          log.error(
            { err: error, order: toId('order', orderId) },
            'Failed to decrypt the arguments of an order; showing them as empty',
          )
        }
        told.add(orderId)
        return {}
      }
    },
  }
}
