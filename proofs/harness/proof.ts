/** Input and result of a proof. */
import type { Random } from './random.ts'

export interface ProofContext {
  seed: string
  random: Random
  /** Temporary directory that is removed after the proof. */
  dir: string
  /** Writes a progress message to stderr. */
  say(text: string): void
  /** Returns a numeric setting of the run, such as KILLS. */
  setting(name: string, fallback: number): number
  /** Registers a cleanup function. They run in reverse order, also after errors. */
  afterwards(work: () => Promise<unknown>): void
}

export interface ProofResult {
  pass: boolean
  /** Measured result, such as `61/61`. */
  figure: string
  /** Number of tried cases. */
  n: number
  faultsInjected: number
  /** Reasons for a failure, one sentence each. */
  reasons: string[]
}

export type Proof = (context: ProofContext) => Promise<ProofResult>

/** Completes a result. It passes if it has no reasons. */
export const conclude = (result: Omit<ProofResult, 'pass'>): ProofResult => ({
  pass: result.reasons.length === 0,
  ...result,
})
