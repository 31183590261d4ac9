/** Builds small files that are expensive to decode. */
import { crc32, deflateSync } from 'node:zlib'

function pngChunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(named.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  named.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(named), named.length + 4)
  return chunk
}

/** A PNG of 650 KB with a single line of this many black pixels. Decoders scale it down as a whole. */
export function longLine(pixels = 50_000_000): File {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels, 0)
  header.writeUInt32BE(1, 4)
  // Bit depth 8, color type RGB.
  header.set([8, 2], 8)
  const bytes = Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc(pixels * 3 + 1), { level: 1 })),
    pngChunk('IEND', new Uint8Array()),
  ])
  return new File([new Uint8Array(bytes)], 'line.png', { type: 'image/png' })
}

function jpegSegment(marker: number, data: readonly number[]): Buffer {
  const size = data.length + 2
  return Buffer.from([0xff, marker, size >> 8, size & 255, ...data])
}

function jpegBits(bits: string): Buffer {
  const whole = bits.match(/.{1,8}/g)!.map((each) => Number.parseInt(each.padEnd(8, '1'), 2))
  return Buffer.from(whole.flatMap((byte) => (byte === 255 ? [byte, 0] : [byte])))
}

function emptyScan(blocks: number): Buffer {
  let bits = ''
  for (let left = blocks; left > 0; ) {
    const power = Math.min(14, Math.floor(Math.log2(left)))
    const run = Math.min(left, 2 ** (power + 1) - 1)
    const rest = power > 0 ? (run - 2 ** power).toString(2).padStart(power, '0') : ''
    bits += `${'1'.repeat(14 - power)}0${rest}`
    left -= run
  }
  return jpegBits(bits)
}

/**
 * A progressive JPEG of 160 KB with a separate scan for each bit of each coefficient, all zero. With `times` above 1, the scans
 * repeat, which the standard forbids.
 */
export function manyScans(side: number, times = 1): File {
  const blocks = Math.ceil(side / 8) ** 2
  const scan = (first: number, last: number, from: number, to: number, bits: Buffer) => [
    jpegSegment(0xda, [1, 1, 0, first, last, (from << 4) | to]),
    bits,
  ]
  const bit = emptyScan(blocks)
  const coefficients = Array.from({ length: 63 }, (_, index) => index + 1)
  const planes = Array.from({ length: 14 }, (_, index) => 13 - index)
  const runs = Array.from({ length: 15 }, (_, index) => (14 - index) << 4)
  const passes = coefficients.flatMap((each) =>
    planes.flatMap((plane) => scan(each, each, plane === 13 ? 0 : plane + 1, plane, bit)),
  )
  const bytes = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xdb, [0, ...Array<number>(64).fill(1)]),
    jpegSegment(0xc2, [8, side >> 8, side & 255, side >> 8, side & 255, 1, 1, 0x11, 0]),
    jpegSegment(0xc4, [0x00, 1, ...Array<number>(15).fill(0), 0]),
    jpegSegment(0xc4, [0x10, ...Array<number>(15).fill(1), 0, ...runs]),
    ...scan(0, 0, 0, 0, Buffer.alloc(Math.ceil(blocks / 8))),
    ...Array.from({ length: times }, () => passes).flat(),
    Buffer.from([0xff, 0xd9]),
  ])
  return new File([new Uint8Array(bytes)], 'scans.jpg', { type: 'image/jpeg' })
}
