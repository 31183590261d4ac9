/** The asset itself: a picture, a player, or where to get it. */
import { html } from 'hono/html'
import { displayOf, mediaKindOf } from '../../assets/file-types.ts'
import type { Html } from '../layout.ts'
import type { ShownAsset } from './read.ts'
import { clip, type Speech, sizeText, titleOf } from './shown.ts'

/** Maximum size of an original image that a page displays when there is no thumbnail, in bytes. */
const LARGEST_PICTURE = 5_000_000

/** Returns the URL of the image to display, or null if there is none or it is too large. */
export function pictureOf({ thumbnailUrl, assetFileUrl, assetFileMimeType, assetFileSize }: ShownAsset): string | null {
  if (thumbnailUrl !== null) return thumbnailUrl
  return displayOf(assetFileMimeType) === 'picture' && Number(assetFileSize) <= LARGEST_PICTURE ? assetFileUrl : null
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

/** Renders the picture or the player, and the download links. `hasC2pa`: whether the file has a signed copy. */
export function media(asset: ShownAsset, hasC2pa: boolean, { language, words }: Speech): Html {
  const { assetFileUrl: url, assetFileMimeType: type, assetFileSize: size } = asset
  const picture = pictureOf(asset)
  const label = altOf(asset)
  const shown = () => {
    if (displayOf(type) === 'player')
      return mediaKindOf(type) === 'audio'
        ? html`<audio controls preload="metadata" src="${url}" aria-label="${label}"></audio>`
        : html`<video controls preload="metadata" src="${url}" aria-label="${label}"></video>`
    if (picture === null) return ''
    return html`<a href="${url}"><img src="${picture}" alt="${label}"><span class="hidden">${words.open}</span></a>`
  }
  return html`<figure>${shown()}
<figcaption><a href="${downloadUrl(url)}">${words.download}</a> <span class="quiet">${type}, ${sizeText(size, language)}</span>${
    hasC2pa && html`<br><a href="${c2paUrl(asset)}">${words.c2pa}</a> <span class="quiet">${words.c2paText}</span>`
  }</figcaption>
</figure>`
}
