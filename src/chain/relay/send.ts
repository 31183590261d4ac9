import type { Origin } from '../../telemetry/telemetry-types.ts'
import { toHex } from '../keys.ts'
import type { Problem } from '../log-dedupe.ts'
import { isPoor, isTaken, RESEND_AFTER_MS, wantsMore } from '../sending.ts'
import { type Lane, type RelayParts, reportLane } from './lane.ts'
import { findRaw, type InFlightRow, markBroadcast } from './relay.sql.ts'

/** Stored bytes that may be sent. */
export interface Outgoing {
  nonce: number
  hash: string
  raw: Uint8Array
  /** What it carries, and where each of these began. */
  commits: readonly string[]
  traces: readonly Origin[]
}

/** Of transactions, which take twice as many characters in a request. Some nodes take requests of a million only. */
const REQUEST_BYTES = 400_000

/**
 * Sends bytes that are stored. However often this happens, at most one transaction per nonce gets into the chain, so any
 * doubt about the outcome ends in sending again. Raises UNAVAILABLE when the node does not answer.
 */
export const send = async (parts: RelayParts, lane: Lane, outgoing: readonly Outgoing[]): Promise<void> => {
  for (const group of inRequests(outgoing)) await sendTogether(parts, lane, group)
}

/** As many as a node takes in one request. */
const inRequests = (outgoing: readonly Outgoing[]): Outgoing[][] => {
  const requests: Outgoing[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const each of outgoing) {
    bytes += each.raw.length
    if (bytes > REQUEST_BYTES) {
      requests.push([])
      bytes = each.raw.length
    }
    requests.at(-1)!.push(each)
  }
  return requests
}

const sendTogether = async (parts: RelayParts, lane: Lane, outgoing: readonly Outgoing[]): Promise<void> => {
  const calls = outgoing.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [toHex(raw)] }))
  const origins = outgoing.flatMap(({ traces }) => traces)
  const outcomes = await parts.tracer.resume(origins, 'relay send', {}, () => parts.rpc.batch(calls))
  const taken: string[] = []
  let problem: Problem | undefined
  outgoing.forEach(({ nonce, commits, hash }, index) => {
    const error = outcomes[index]?.error
    if (!error || isTaken(error)) {
      taken.push(...commits)
      lane.sentAt.set(nonce, performance.now())
      lane.refusals.delete(hash)
      // Used up already: the receipt is to be read, even if the head does not move.
      if (error) lane.seen = ''
      return
    }
    // What a node took before it has no more: it is not waiting there, for a better price or for anything else.
    lane.sentAt.delete(nonce)
    const lacksFunds = isPoor(error)
    if (!lacksFunds && wantsMore(error)) lane.refusals.set(hash, (lane.refusals.get(hash) ?? 0) + 1)
    problem ??= lacksFunds
      ? { message: 'The relay account cannot pay for gas; send it coins' }
      : { message: 'The node rejected a transaction; retrying', reason: error.message }
  })
  reportLane(parts, lane, 'sending', problem)
  if (taken.length > 0) await parts.lease.write(lane.name, markBroadcast, { commits: taken })
}

/** Sends what is stored and was never taken, was forgotten, or lost its block. */
export const sendAgain = async (parts: RelayParts, lane: Lane, count: number, inFlight: readonly InFlightRow[]) => {
  const now = performance.now()
  const due = inFlight.filter(({ nonce, sent }) => {
    const sentAt = lane.sentAt.get(nonce)
    return nonce >= count && (!sent || sentAt === undefined || now - sentAt > RESEND_AFTER_MS)
  })
  if (due.length === 0) return
  const rows = await parts.database.query(findRaw, { hashes: due.map(({ hash }) => hash) })
  const raws = new Map(rows.map(({ hash, raw }) => [hash, raw]))
  const outgoing = due.flatMap(({ nonce, hash, commits, traces }) => {
    const raw = raws.get(hash)
    return raw ? [{ nonce, hash, raw, commits, traces }] : []
  })
  await send(parts, lane, outgoing)
}
