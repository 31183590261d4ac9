/** Memory for the pieces in which files are read. V8 marks its whole heap for each 64 MB allocated outside it, so it is used again. */

/** Pieces of a size. */
export interface PiecePool {
  /** A buffer of that size, with whatever it held before. */
  take(): Buffer
  /** Says that `piece` is what was read into a buffer that was taken. */
  lend(piece: Uint8Array, buffer: Buffer): void
  /** Takes a piece back that was lent and that nobody reads any more; others are left alone. */
  giveBack(piece: Uint8Array): void
}

/** Buffers of `bytes` bytes; `spare` of them are kept at most while nobody needs them. */
export function createPiecePool(bytes: number, spare: number): PiecePool {
  const free: Buffer[] = []
  // Weak, because not everybody who reads gives back.
  const lent = new WeakMap<Uint8Array, Buffer>()
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(bytes),
    lend: (piece, buffer) => void lent.set(piece, buffer),
    giveBack(piece) {
      const buffer = lent.get(piece)
      if (lent.delete(piece) && buffer && free.length < spare) free.push(buffer)
    },
  }
}
