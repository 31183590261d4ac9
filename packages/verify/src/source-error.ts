/**
 * Controls, line breaks among them, and what is not seen or turns the direction of writing: by these a text could move the cursor of whoever
 * reads it, take back what stands before it, or pass for lines of ours.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** A text as one line that shows all of it: what is not seen stands there by its number. */
export const plain = (text: string): string =>
  text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** A node or a gateway did not give usable evidence. The message is the reason why a verdict is unsettled, or why no proof can be written. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  /** The message may contain text from the source. */
  constructor(message: string, options?: ErrorOptions) {
    super(plain(message), options)
  }
}

/** The chain holds no commit that could be proven. */
export class NothingCommitted extends SourceError {
  override readonly name = 'NothingCommitted'
}

/** A proof or a file that the caller named cannot be read, or is not about what the caller named. */
export class UnreadableInput extends Error {
  override readonly name = 'UnreadableInput'
  /** The message may contain text from the input. */
  constructor(message: string, options?: ErrorOptions) {
    super(plain(message), options)
  }
}

/** Returns the reason of a SourceError; throws any other error again. */
export function reasonOfSource(error: unknown): string {
  if (error instanceof SourceError) return error.message
  throw error
}
