/** Asking a server that does not answer, or wants to be left alone for a while. */
import { setTimeout as delay } from 'node:timers/promises'
import { statuses } from '../../http/error-status.ts'
import { type Patiently, RefusedError } from './server.ts'

/** Seconds between tries of a server that says nothing; after the last one it is given up. */
const PAUSES_SECONDS = [1, 2, 4, 8, 15, 30, 30, 30]
/** Seconds, where a server that limits us does not say how many. */
const LIMITED_SECONDS = 10
/** Seconds from which on a pause is told. */
const TOLD_SECONDS = 5

/**
 * All questions asked with one patience rest together. A server that limits us is waited for as long as it says, others are given up in
 * the end. What is asked raises RefusedError; once `interrupted` is aborted, its reason is raised before anything new is asked.
 */
export function createPatience(say: (text: string) => void, interrupted: AbortSignal): Patiently {
  /** Milliseconds of `performance.now()`. Nobody asks before. */
  let restUntil = 0
  let rests = 0
  /** Pauses since the last answer, but for those that a limit asked for. */
  let failures = 0

  async function rest() {
    const wait = restUntil - performance.now()
    if (wait > 0) await delay(wait, undefined, { signal: interrupted }).catch(() => undefined)
    interrupted.throwIfAborted()
  }

  function pauseAfter(refused: RefusedError) {
    const { code, message, retryAfter } = refused
    const isLimit = code === statuses.THROTTLED.type
    const pause = isLimit ? LIMITED_SECONDS : PAUSES_SECONDS[failures]
    if (pause === undefined) throw refused
    if (!isLimit) failures += 1
    const seconds = isLimit ? (retryAfter ?? pause) : Math.max(retryAfter ?? 0, pause)
    rests += 1
    restUntil = performance.now() + seconds * 1_000
    if (seconds < TOLD_SECONDS) return
    const at = new Date(Date.now() + seconds * 1_000).toLocaleTimeString()
    say(`${message} It goes on in ${seconds} seconds, at ${at}.`)
  }

  return async (ask) => {
    for (;;) {
      await rest()
      const restsBefore = rests
      try {
        const answer = await ask()
        failures = 0
        return answer
      } catch (error) {
        if (!(error instanceof RefusedError) || !error.isPassing) throw error
        // What was asked at the same time fails of the same.
        if (rests === restsBefore) pauseAfter(error)
      }
    }
  }
}
