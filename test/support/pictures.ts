import { randomBytes } from 'node:crypto'
import sharp from 'sharp'

export interface PictureOptions {
  width?: number
  height?: number
  format?: 'jpeg' | 'png' | 'webp' | 'gif' | 'avif' | 'tiff'
  orientation?: number
}

/** Generates a picture of random squares with GPS metadata. */
export async function newPicture({ width = 800, height = 600, format = 'jpeg', orientation }: PictureOptions = {}) {
  const squares = { width: 8, height: 8, channels: 3 } as const
  const bytes = await sharp(randomBytes(8 * 8 * 3), { raw: squares })
    .resize({ width, height, fit: 'fill', kernel: 'nearest' })
    .withExif({ IFD3: { GPSLatitudeRef: 'N', GPSMapDatum: 'here' } })
    .withMetadata(orientation ? { orientation } : {})
    .toFormat(format)
    .toBuffer()
  return new File([new Uint8Array(bytes)], `picture.${format}`, { type: `image/${format}` })
}
