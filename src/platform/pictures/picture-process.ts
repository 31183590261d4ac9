/**
 * Reads one picture of a stranger from stdin and writes it to stdout in smaller sizes. A process of its own: what goes
 * wrong in the decoders, and how much memory they take, happens away from keys and requests.
 * Arguments: the sides of the squares into which the results must fit, largest first, for each is made of the one before. Each
 * result is preceded by its length (32 bits).
 */
import sharp from 'sharp'

/** Of the picture that is read: a decoder needs up to 8 bytes for each, and up to 20 where it must hold all of it at once. */
const MAX_PIXELS = 50_000_000
const MAX_PIXELS_AT_ONCE = 20_000_000
const SECONDS = 10
/** The picture is none, or none that we read. */
const UNREADABLE = 2

// Raster formats alone: documents and drawings can ask for other files, and describe more work than they weigh.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((format) => `VipsForeignLoad${format}`),
})
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
      .timeout({ seconds: SECONDS })
      .toBuffer()
  )
}

async function main() {
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
