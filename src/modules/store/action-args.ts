/** Encryption of order arguments for webhooks, which may contain an access token. Empty arguments become null. */
import type { EnvelopeCipher } from '../../keys/envelope-encryption.ts'
import { LostKeyError } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'

/** Returns the encryption context of an order's arguments. */
export const actionArgsContext = (orderId: string) => `order:${orderId}\naction-args\nv1`

/** Maximum number of orders for which a logged failure is stored, to avoid duplicate log lines. */
const MAX_LOGGED = 10_000

/** Encrypts and decrypts arguments of orders. */
export type ActionArgs = ReturnType<typeof createActionArgs>

/** Creates the service that encrypts and decrypts order arguments. A decryption failure is logged once per order. */
export function createActionArgs({ envelopeCipher, log }: { envelopeCipher: EnvelopeCipher; log: Pick<Log, 'error'> }) {
  const logged = new Set<string>()
  /** Cache of the arguments that this process encrypted. It saves a decryption in the response to `createOrder`. */
  const plainTexts = new WeakMap<Uint8Array, string>()

  /** Decrypts arguments. Throws LostKeyError if they cannot be decrypted. */
  const open = async (orderId: string, sealed: Uint8Array | null): Promise<Record<string, unknown>> =>
    sealed ? JSON.parse(plainTexts.get(sealed) ?? (await envelopeCipher.open(sealed, actionArgsContext(orderId)))) : {}

  return {
    /** Encrypts arguments, given as JSON text. */
    async seal(orderId: string, json: string): Promise<Uint8Array | null> {
      if (json === '{}') return null
      const sealed = await envelopeCipher.seal(json, actionArgsContext(orderId))
      plainTexts.set(sealed, json)
      return sealed
    },

    open,

    /** Decrypts arguments for display. Logs a failure once and returns an empty object. */
    async openForDisplay(orderId: string, sealed: Uint8Array | null): Promise<Record<string, unknown>> {
      try {
        return await open(orderId, sealed)
      } catch (error) {
        if (!(error instanceof LostKeyError)) throw error
        if (logged.size >= MAX_LOGGED) logged.clear()
        if (!logged.has(orderId)) {
          log.error(
            { err: error, order: toId('order', orderId) },
            'Failed to decrypt the arguments of an order; showing them as empty',
          )
        }
        logged.add(orderId)
        return {}
      }
    },
  }
}
