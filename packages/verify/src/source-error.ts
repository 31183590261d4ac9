/**
 * Control characters, line breaks, invisible characters, and characters that change the text direction. Untrusted text could use them to hide
 * or fake output in a terminal.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Returns the text as one line, with these characters escaped as code points. */
export const plain = (text: string): string =>
  text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** Error for a node or a gateway without usable evidence. The message is the reason why a verdict is unsettled, or why no proof can be written. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  /** The message may contain text from the source. */
  constructor(message: string, options?: ErrorOptions) {
    super(plain(message), options)
  }
}

/** Error for an asset without a commit on the chain. */
export class NothingCommitted extends SourceError {
  override readonly name = 'NothingCommitted'
}

/** Error for an invalid argument, and for a proof or file that cannot be read or belongs to another asset. */
export class InputError extends Error {
  override readonly name = 'InputError'
  /** The message may contain text from the input. */
  constructor(message: string, options?: ErrorOptions) {
    super(plain(message), options)
  }
}

/** Returns the message of a SourceError. Throws other errors again. */
export function reasonOfSource(error: unknown): string {
  if (error instanceof SourceError) return error.message
  throw error
}
