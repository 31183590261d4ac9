/** Reads one untrusted picture from stdin and writes smaller sizes to stdout, each after its length (32 bits). Arguments: the sides, largest first. */
import sharp from 'sharp'
import { thumbnailLoaders } from '../../modules/assets/file-types.ts'
import { TOO_MUCH, UNREADABLE } from './picture-endings.ts'

/** Maximum pixels of a picture. Decoders need up to 8 bytes per pixel, and up to 20 if they must hold all pixels at once. */
const MAX_PIXELS = 50_000_000
const MAX_PIXELS_AT_ONCE = 20_000_000
/** Maximum CPU time in milliseconds, and memory in bytes. The pixel limit is not enough: 160 KB can process all pixels a thousand times. */
const MAX_CPU_MS = 10_000
const MAX_MEMORY_BYTES = 700_000_000

// Accept raster formats only. Documents and vector graphics can refer to other files, and can need much more work than their size suggests.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: [...thumbnailLoaders].map((name) => `VipsForeignLoad${name}`) })
sharp.cache(false)
sharp.concurrency(1)

/** Returns the maximum number of pixels for this format. Reads only the header. */
async function pixelsAllowed(picture: Buffer): Promise<number> {
  const { format, isProgressive } = await sharp(picture, { limitInputPixels: MAX_PIXELS }).metadata()
  return format === 'heif' || (format === 'png' && isProgressive) ? MAX_PIXELS_AT_ONCE : MAX_PIXELS
}

async function make(picture: Buffer, limitInputPixels: number, side: number): Promise<Buffer> {
  return (
    sharp(picture, { limitInputPixels, sequentialRead: true, failOn: 'error' })
      // Applies the orientation. The output has no metadata, such as place and time.
      .rotate()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer()
  )
}

async function main() {
  // Decoders cannot be stopped, so the process kills itself if the picture exceeds the limits.
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    const isTooMuch = (user + system) / 1_000 > MAX_CPU_MS || process.memoryUsage.rss() > MAX_MEMORY_BYTES
    if (isTooMuch) process.kill(process.pid, TOO_MUCH)
  }, 20).unref()
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
