/** Puts the pieces of a body together as they come, so that what is held of it is about as large as the body. */

const NOTHING = Buffer.alloc(0)

/** Bytes that come in pieces. */
export class ByteGatherer {
  #room: Buffer = NOTHING
  #isOwn = false
  /** Bytes that wait to be taken. */
  size = 0

  /** One piece by itself is kept as it is, and not copied. */
  add(piece: Buffer): void {
    if (this.size === 0) {
      this.#room = piece
      this.#isOwn = false
      this.size = piece.length
      return
    }
    const size = this.size + piece.length
    if (!this.#isOwn || size > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(2 * size)
      this.#room.copy(larger, 0, 0, this.size)
      this.#room = larger
      this.#isOwn = true
    }
    piece.copy(this.#room, this.size)
    this.size = size
  }

  /** What has come since it was taken last. */
  take(): Buffer {
    const bytes = this.#room.subarray(0, this.size)
    this.#room = NOTHING
    this.size = 0
    return bytes
  }
}
