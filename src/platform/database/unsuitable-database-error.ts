/** A database that answers, and that Annal cannot work with. */
export class UnsuitableDatabaseError extends Error {
  /** What is wrong with it, in a sentence. */
  readonly finding: string
  /** What an operator does about it, in a sentence. */
  readonly fix: string

  constructor(finding: string, fix: string, options?: ErrorOptions) {
    super(`${finding} ${fix}`, options)
    this.finding = finding
    this.fix = fix
  }
}
