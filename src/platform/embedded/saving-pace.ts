/**
 * How often the embedded chain is saved. A dump holds the whole history, and takes as long as that is long: about .1 ms for each
 * commit. What a killed anvil loses in between, the relay sends again.
 */
const savingShare = 1 / 50
/** Milliseconds that a block waits for the dump that holds it: whoever sent coins in it would have to send them again. */
const LONGEST_UNSAVED_MS = 10 * 60_000

/**
 * Milliseconds to wait after a dump that took so many: a fiftieth of the time goes into dumping; more where that wait
 * would be longer than ten minutes, up to half.
 */
export const pauseAfterSaving = (took: number): number =>
  Math.min(took / savingShare, Math.max(LONGEST_UNSAVED_MS, took))
