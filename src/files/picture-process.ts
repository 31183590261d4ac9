/** Reads an untrusted picture from stdin. Writes smaller pictures, as a JSON list of base64 texts, to stdout. */
import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'
import { thumbnailLoaders } from '../modules/assets/file-types.ts'

/** Maximum pixels of a picture. Decoders use up to 8 bytes per pixel, or up to 20 to hold all pixels at once. */
const MAX_PIXELS = 50_000_000
const MAX_PIXELS_AT_ONCE = 20_000_000
/** Maximum CPU time (ms) and memory (bytes). A file of 160 KB can make a decoder process all pixels 1,000 times. */
const MAX_CPU_MS = 10_000
const MAX_MEMORY_BYTES = 700_000_000

// Accept raster formats only. Documents and vector graphics can refer to other files, and their decoding can take
// much longer than their size suggests.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: [...thumbnailLoaders].map((name) => `VipsForeignLoad${name}`) })
sharp.cache(false)
sharp.concurrency(1)

/** Returns the maximum number of pixels for the format of a picture. Reads only the header of the picture. */
async function maxPixelsOf(picture: Buffer): Promise<number> {
  const { format, isProgressive } = await sharp(picture, { limitInputPixels: MAX_PIXELS }).metadata()
  return format === 'heif' || (format === 'png' && isProgressive) ? MAX_PIXELS_AT_ONCE : MAX_PIXELS
}

/** Rotates a picture to its orientation and resizes it. Removes metadata, such as place and time. */
const resize = (picture: Buffer, limitInputPixels: number, side: number): Promise<Buffer> =>
  sharp(picture, { limitInputPixels, sequentialRead: true, failOn: 'error' })
    .rotate()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
    .toBuffer()

async function main() {
  // A running decoder cannot be stopped, so the process kills itself if the picture exceeds the limits.
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    const isTooMuch = (user + system) / 1_000 > MAX_CPU_MS || process.memoryUsage.rss() > MAX_MEMORY_BYTES
    if (isTooMuch) process.kill(process.pid, 'SIGXCPU')
  }, 20).unref()
  const original = await buffer(process.stdin)
  const limit = await maxPixelsOf(original)
  const made: Buffer[] = [original]
  // The arguments are the maximum side lengths, largest first.
  for (const side of process.argv.slice(2)) made.push(await resize(made.at(-1)!, limit, Number(side)))
  process.stdout.write(JSON.stringify(made.slice(1).map((picture) => picture.toString('base64'))))
}

main().catch((error: unknown) => {
  process.stderr.write(String(error))
  process.exitCode = 2
})
