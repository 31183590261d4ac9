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
  /already known|known transaction|already (imported|exists|in)|nonce (is )?too low|replacement transaction underpriced/i.test(
    message,
  )
