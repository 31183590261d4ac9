/** What machines read of an asset's page: search engines, and whoever shows a link with a picture. */
import { html, raw } from 'hono/html'
import { type MediaKind, mediaKindOf } from '../../assets/file-types.ts'
import type { Html } from '../layout.ts'
import { altOf, pictureOf } from './media.ts'
import type { ShownAsset } from './read.ts'
import { clip, type Speech, titleOf } from './shown.ts'

/** The types of schema.org. */
const schemaTypes: Record<MediaKind, string> = {
  image: 'ImageObject',
  video: 'VideoObject',
  audio: 'AudioObject',
  file: 'MediaObject',
}

const person = ({ displayName, address }: ShownAsset['creator']) => ({
  '@type': 'Person',
  name: displayName,
  identifier: address,
})

/** The asset in the words of schema.org. */
const structuredData = (asset: ShownAsset, url: string) => ({
  '@context': 'https://schema.org',
  '@type': schemaTypes[mediaKindOf(asset.assetFileMimeType)],
  '@id': url,
  url,
  identifier: asset.nid,
  name: titleOf(asset),
  ...(asset.caption && { description: asset.caption }),
  contentUrl: asset.assetFileUrl,
  ...(asset.thumbnailUrl !== null && { thumbnailUrl: asset.thumbnailUrl }),
  encodingFormat: asset.assetFileMimeType,
  contentSize: `${asset.assetFileSize} B`,
  sha256: asset.proofHash,
  uploadDate: asset.uploadedAt,
  dateModified: asset.updatedAt,
  creator: person(asset.creator),
  copyrightHolder: person(asset.owner),
})

/** Nothing in it can end the element. */
const inScript = (value: unknown) => raw(JSON.stringify(value).replaceAll('<', '\\u003c'))

const property = (name: string, content: string | null) =>
  content === null
    ? ''
    : html`<meta property="${name}" content="${content}">
`

/** Metadata of a public asset's page. It is data: the policy of the page lets no script run, and needs no exception for it. */
export function head(asset: ShownAsset, url: string, { language }: Speech): Html {
  const title = titleOf(asset)
  const picture = pictureOf(asset)
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${clip(asset.caption || title)}">
<meta name="twitter:card" content="${picture === null ? 'summary' : 'summary_large_image'}">
${property('og:site_name', 'Annal')}${property('og:type', 'website')}${property('og:url', url)}${property('og:title', title)}${property('og:description', clip(asset.caption || title))}${property('og:locale', language.replace('-', '_'))}${property('og:image', picture)}${property('og:image:alt', picture === null ? null : altOf(asset))}<script type="application/ld+json">${inScript(structuredData(asset, url))}</script>
`
}
