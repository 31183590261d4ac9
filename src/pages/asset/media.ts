/** The asset itself: a picture, a player, or where to get it. */
import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import type { ShownAsset } from './read.ts'
import { clip, type Speech, sizeText, titleOf } from './shown.ts'

/** Image types that browsers display. */
const shownPictures = /^image\/(jpeg|png|gif|webp|avif|bmp)$/i
/** Maximum size of an original image that a page displays when there is no thumbnail, in bytes. */
const LARGEST_PICTURE = 5_000_000

/** Returns the URL of the image to display, or null if there is none or it is too large. */
export function pictureOf({ thumbnailUrl, assetFileUrl, assetFileMimeType, assetFileSize }: ShownAsset): string | null {
  if (thumbnailUrl !== null) return thumbnailUrl
  return shownPictures.test(assetFileMimeType) && Number(assetFileSize) <= LARGEST_PICTURE ? assetFileUrl : null
}

/** Those who cannot see it are told what its owner says of it. */
export const altOf = (asset: ShownAsset) => clip(asset.altText || asset.caption || titleOf(asset))

/** The address that has a browser save the file. */
const downloadUrl = (url: string) => `${url}${url.includes('?') ? '&' : '?'}download=true`

/** Where the file with a manifest of ours is, with the signature that the file itself is read by where it is private. */
function c2paUrl({ nid, assetFileUrl }: ShownAsset): string {
  const { origin, pathname, search } = new URL(assetFileUrl)
  return downloadUrl(
    `${origin}${pathname.slice(0, pathname.lastIndexOf('/ipfs/'))}/api/v3/assets/${nid}/c2pa/${search}`,
  )
}

/** The picture or the player; nothing for what is neither. `hasC2pa`: whether the file is given with a manifest of ours. */
export function media(asset: ShownAsset, hasC2pa: boolean, { language, words }: Speech): Html {
  const { assetFileUrl: url, assetFileMimeType: type, assetFileSize: size } = asset
  const picture = pictureOf(asset)
  const label = altOf(asset)
  const shown = () => {
    if (/^video\//i.test(type))
      return html`<video controls preload="metadata" src="${url}" aria-label="${label}"></video>`
    if (/^audio\//i.test(type))
      return html`<audio controls preload="metadata" src="${url}" aria-label="${label}"></audio>`
    if (picture === null) return ''
    return html`<a href="${url}"><img src="${picture}" alt="${label}"><span class="hidden">${words.open}</span></a>`
  }
  return html`<figure>${shown()}
<figcaption><a href="${downloadUrl(url)}">${words.download}</a> <span class="quiet">${type}, ${sizeText(size, language)}</span>${
    hasC2pa && html`<br><a href="${c2paUrl(asset)}">${words.c2pa}</a> <span class="quiet">${words.c2paText}</span>`
  }</figcaption>
</figure>`
}
