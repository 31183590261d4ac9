/** What holds for whatever is sent: when it is sent again, when more is offered for it, and what a node's refusal means. */
import type { RpcError } from './rpc.ts'

/** Milliseconds after which bytes that are still not included are sent again: pools forget. */
export const RESEND_AFTER_MS = 15_000
/** A transaction that pays enough and is not included: seconds and blocks until more is offered. */
export const STUCK_SECONDS = 45
/** See `STUCK_SECONDS`. */
export const STUCK_BLOCKS = 3

/** The node has these bytes, or others of ours at the same nonce. Receipts decide which; sending again would change nothing. */
export const isTaken = ({ message }: RpcError): boolean =>
  /already ?known|known transaction|already (imported|exists|in)|nonce (is )?too low|OldNonce|replacement transaction underpriced|ReplacementNotAllowed/i.test(
    message,
  )

/** The account cannot pay for it; nodes say so each in its own words. */
export const isPoor = ({ message }: RpcError): boolean => /insufficient ?funds|upfront cost exceeds/i.test(message)

/** A dearer one, or one with more gas, may be taken. Any other refusal is none of its price: of a node that cannot, may not or does not want to. */
export const wantsMore = ({ message }: RpcError): boolean =>
  /underpriced|fee|price|gas|pool is full/i.test(message) && !/exceeds the configured cap/i.test(message)
