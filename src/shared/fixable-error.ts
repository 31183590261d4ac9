/** What keeps Annal from working, and that an operator can mend. */
export class FixableError extends Error {
  /** What is wrong, in a sentence that names where. */
  readonly finding: string
  /** What an operator does about it, in a sentence. */
  readonly fix: string

  constructor(finding: string, fix: string, options?: ErrorOptions) {
    super(`${finding} ${fix}`, options)
    this.finding = finding
    this.fix = fix
  }
}
