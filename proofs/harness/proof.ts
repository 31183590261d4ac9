/** What a proof gets and gives. */
import type { Random } from './random.ts'

export interface ProofContext {
  seed: string
  random: Random
  /** A scratch directory that is removed afterwards. */
  dir: string
  /** For people, on stderr. */
  say(text: string): void
  /** Settings of a run, such as KILLS. */
  setting(name: string, fallback: number): number
  /** Runs at the end, in reverse order, whatever happened. */
  afterwards(work: () => Promise<unknown>): void
}

export interface ProofResult {
  pass: boolean
  /** What was measured, as in `61/61`. */
  figure: string
  /** How many things were tried. */
  n: number
  faultsInjected: number
  /** Why it did not pass, a sentence each. */
  reasons: string[]
}

export type Proof = (context: ProofContext) => Promise<ProofResult>

/** Passes when there is no reason not to. */
export const conclude = (result: Omit<ProofResult, 'pass'>): ProofResult => ({
  pass: result.reasons.length === 0,
  ...result,
})
