/**
 * Reads one picture of a stranger from stdin and writes it to stdout in smaller sizes. A process of its own: what goes
 * wrong in the decoders, and how much memory they take, happens away from keys and requests.
 * Arguments: the sides of the squares into which the results must fit, largest first, for each is made of the one before. Each
 * result is preceded by its length (32 bits).
 */
import sharp from 'sharp'
import { thumbnailLoaders } from '../../modules/assets/file-types.ts'
import { TOO_MUCH, UNREADABLE } from './picture-endings.ts'

/** Of the picture that is read: a decoder needs up to 8 bytes for each, and up to 20 where it must hold all of it at once. */
const MAX_PIXELS = 50_000_000
const MAX_PIXELS_AT_ONCE = 20_000_000
/**
 * What one picture may take: of the processor's time, which says the same on a busy machine, in milliseconds; and of memory, in bytes. Pixels
 * alone bound neither: a file of 160 KB may have the whole picture gone through a thousand times, and one line of 50 million pixels takes 6 GB.
 */
const MAX_PROCESSOR_MS = 10_000
const MAX_MEMORY_BYTES = 700_000_000
/** Milliseconds between two looks at it. */
const LOOK_EVERY_MS = 20

// Raster formats only. Documents and drawings can name other files and can need much more work than their size suggests.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: [...thumbnailLoaders].map((name) => `VipsForeignLoad${name}`) })
sharp.cache(false)
sharp.concurrency(1)

/** Reads the header alone. */
async function pixelsAllowed(picture: Buffer): Promise<number> {
  const { format, isProgressive } = await sharp(picture, { limitInputPixels: MAX_PIXELS }).metadata()
  return format === 'heif' || (format === 'png' && isProgressive) ? MAX_PIXELS_AT_ONCE : MAX_PIXELS
}

async function make(picture: Buffer, limitInputPixels: number, side: number): Promise<Buffer> {
  return (
    sharp(picture, { limitInputPixels, sequentialRead: true, failOn: 'error' })
      // Turned as its camera was held, and without whatever else it says of where and when.
      .rotate()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer()
  )
}

/** Ends the process by `TOO_MUCH` once the picture takes more than it may: the decoders themselves cannot be asked to stop. */
function watch() {
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    if ((user + system) / 1_000 > MAX_PROCESSOR_MS || process.memoryUsage.rss() > MAX_MEMORY_BYTES) {
      process.kill(process.pid, TOO_MUCH)
    }
  }, LOOK_EVERY_MS).unref()
}

async function main() {
  watch()
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const picture = Buffer.concat(chunks)
  const limit = await pixelsAllowed(picture)
  let made: Buffer = picture
  for (const side of process.argv.slice(2).map(Number)) {
    made = await make(made, limit, side)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(made.length)
    process.stdout.write(Buffer.concat([length, made]))
  }
}

main().catch((error: unknown) => {
  process.stderr.write(String(error))
  process.exitCode = UNREADABLE
})
