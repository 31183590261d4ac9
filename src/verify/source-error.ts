import { plain } from './plain.ts'

/** A node, a gateway or a file did not give what a verdict needs: nothing can be said, neither good nor bad. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError'
  /** The message may repeat what they say. */
  constructor(message: string, options?: ErrorOptions) {
    super(plain(message), options)
  }
}

/** There is nothing on the chain that could be proven. */
export class NothingCommitted extends SourceError {
  override readonly name = 'NothingCommitted'
}
