/** A node, a gateway or a file did not give what a verdict needs: nothing can be said, neither good nor bad. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
