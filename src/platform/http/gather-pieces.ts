/** Puts what comes in small pieces together: an object for each byte takes a hundred times the memory of the bytes. */

/** Bytes of a piece, but for the last one, which may have fewer. */
export const PIECE_BYTES = 4_096

/** Takes pieces of any size. */
export interface Gatherer {
  add(piece: Buffer): void
  /** Nothing comes any more: passes on what is left. */
  flush(): void
}

/** Passes on what is added, in its order, in pieces of `PIECE_BYTES` at least. What comes large goes on as it is. */
export function gatherPieces(passOn: (piece: Buffer) => void): Gatherer {
  let gathered: Buffer = Buffer.alloc(0)
  let size = 0

  const flush = () => {
    const piece = gathered.subarray(0, size)
    gathered = Buffer.alloc(0)
    size = 0
    if (piece.length > 0) passOn(piece)
  }

  function append(piece: Buffer) {
    if (gathered.length < PIECE_BYTES) {
      const larger = Buffer.allocUnsafe(PIECE_BYTES)
      gathered.copy(larger, 0, 0, size)
      gathered = larger
    }
    const fits = piece.copy(gathered, size)
    size += fits
    if (size < PIECE_BYTES) return
    flush()
    add(piece.subarray(fits))
  }

  function add(piece: Buffer) {
    if (size > 0) return append(piece)
    if (piece.length >= PIECE_BYTES) return passOn(piece)
    // Most bodies come in one piece, which is not copied.
    gathered = piece
    size = piece.length
  }

  return { add, flush }
}
