/** Reads and formats the data of an asset's page. */
import { html } from 'hono/html'
import type { Verification } from '../../../../packages/verify/src/verification.ts'
import type { Context } from '../../../context.ts'
import type { Messages } from '../../../locales/messages.ts'
import type { Language } from '../../../shared/language.ts'
import { displayOf } from '../../assets/file-types.ts'
import { mediaKindOf } from '../../assets/metadata.ts'
import type { AssetPageQuery } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { type Html, pageStyle, type Run, styleSource } from '../page.ts'

/** Language of the reader, and the texts in that language. */
export type Speech = { language: Language; words: Messages['pages']['asset'] }

const timeStyle = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const
/** Formatters are reused, because creating one takes as long as hundreds of uses. */
const timeFormats: Record<Language, Intl.DateTimeFormat> = {
  en: new Intl.DateTimeFormat('en', timeStyle),
  'zh-TW': new Intl.DateTimeFormat('zh-TW', timeStyle),
}

export const timeText = (at: string, language: Language): string => `${timeFormats[language].format(new Date(at))} UTC`

/** `at`: ISO 8601. */
export const timeElement = (at: string, language: Language): Html =>
  html`<time datetime="${at}">${timeText(at, language)}</time>`

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

function sizeText(bytes: string, language: Language): string {
  const power = Math.min(Math.floor((bytes.length - 1) / 3), units.length - 1)
  const style = { style: 'unit', unit: units[power]!, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, style).format(Number(bytes) / 1_000 ** power)
}

const MOST_SHOWN = 600

export const clip = (text: string): string => {
  const characters = [...text.slice(0, MOST_SHOWN * 2 + 2)]
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN).join('')}…` : text
}

/** Returns undefined for an empty value. */
export function valueText(value: unknown, { words }: Speech): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'boolean') return value ? words.yes : words.no
  return clip(typeof value === 'string' ? value : JSON.stringify(value))
}

export const facts = (...pairs: (readonly [string, Html | string] | false | undefined)[]): Html =>
  html`<dl class="facts">${pairs.map((pair) => pair && html`<dt>${pair[0]}</dt><dd>${pair[1]}</dd>`)}</dl>`

export const titleOf = ({ headline, assetFileName, nid }: { headline: string; assetFileName: string; nid: string }) =>
  headline || assetFileName || nid

const AssetPage = graphql(/* GraphQL */ `
  query AssetPage($id: ID!, $first: Int!, $after: String) {
    asset(id: $id) {
      nid assetFileName assetFileMimeType assetFileSize assetFileUrl thumbnailUrl proofHash caption headline
      altText publicAccess nitCommitCustom uploadedAt updatedAt commitCount
      owner { displayName address }
      creator { displayName address }
      contentCredentials {
        state trustList signer issuer signedAt generator creators actions digitalSourceType mining problems
        notChecked remoteManifestUrl manifestCount checkedAt
      }
      registration { status }
      commits(first: $first, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          sequence message changes createdAt treeCid status transactionHash explorerUrl blockNumber
          user { displayName }
        }
      }
    }
  }
`)

export type ShownAsset = NonNullable<AssetPageQuery['asset']>
export type ShownCommit = ShownAsset['commits']['nodes'][number]
export type Checked = Verification

/** Returns an asset with its newest commits, or with the commits after a cursor. */
export async function readAsset(run: Run, id: string, after: string | null, context: Context): Promise<ShownAsset> {
  return (await run(AssetPage, { id, first: 50, after }, context)).asset!
}

/** Returns the URL of the image to display. Without a thumbnail, an image of more than 5 MB is not displayed. */
function pictureOf({ thumbnailUrl, assetFileUrl, assetFileMimeType, assetFileSize }: ShownAsset): string | null {
  if (thumbnailUrl !== null) return thumbnailUrl
  return displayOf(assetFileMimeType) === 'picture' && Number(assetFileSize) <= 5_000_000 ? assetFileUrl : null
}

const altOf = (asset: ShownAsset) => clip(asset.altText || asset.caption || titleOf(asset))

const downloadUrl = (url: string) => `${url}${url.includes('?') ? '&' : '?'}download=true`

/** The URL of the file with Content Credentials keeps the signature of a private asset's URL. */
const c2paUrl = ({ nid, assetFileUrl }: ShownAsset) =>
  downloadUrl(assetFileUrl.replace(/\/ipfs\/[^/?]*/, `/api/v3/assets/${nid}/c2pa/`))

/** Renders the picture or the player, and the download links. */
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

export const assetStyle = `${pageStyle}
body { max-width: 46rem; }
h2 { font-size: 1.25rem; margin: 0 0 0.5rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: 0 0 0.75rem; }
section { margin-top: 2.5rem; }
figure { margin: 1.25rem 0; }
figure img, figure video { display: block; width: 100%; height: auto; max-height: 32rem; object-fit: contain; background: var(--box); border-radius: 0.5rem; }
figure audio { display: block; width: 100%; }
figcaption { margin-top: 0.5rem; }
.caption, .message { white-space: pre-line; }
.quiet { color: var(--quiet); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.facts, .changes { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.25rem 1.25rem; margin: 0 0 0.75rem; }
.facts dt, .changes dt { margin: 0; font-weight: 400; color: var(--quiet); max-width: 14rem; }
.facts dd, .changes dd { min-width: 0; overflow-wrap: anywhere; }
.timeline { list-style: none; margin: 1rem 0 0; padding: 0; }
.timeline > li { border-left: 0.25rem solid var(--line); padding: 0 0 0.25rem 1rem; margin: 0 0 1.5rem; }
.message { margin: 0 0 0.5rem; }
del { color: var(--problem); }
ins { color: var(--good); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
code { font-size: 0.875em; }
pre { background: var(--box); padding: 0.75rem 1rem; border-radius: 0.375rem; margin: 0 0 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { padding: 0; background: none; }
.checks { margin: 0 0 0.5rem; padding: 0; list-style: none; }
.mark { font-weight: 600; white-space: nowrap; }
.mark.good { color: var(--good); }
.mark.bad { color: var(--problem); }
.notice { border-left-color: var(--line); }
.notice.good { border-left-color: var(--good); }
.notice.bad { border-left-color: var(--problem); }
.pages a + a { margin-left: 1rem; }
@media (max-width: 30rem) { .facts, .changes { grid-template-columns: 1fr; gap: 0; } .facts dd, .changes dd { margin-bottom: 0.5rem; } .timeline > li { padding-left: 0.75rem; } }
@media print {
  :root { color-scheme: light; --text: #000; --ground: #fff; --quiet: #444; --line: #888; --box: #fff; --accent: #000; --problem: #000; --good: #000; }
  body { max-width: none; margin: 0; font-size: 10.5pt; }
  .no-print, audio, video { display: none; }
  .timeline > li, figure, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  pre { border: 1px solid var(--line); }
  figure img { max-height: 12cm; width: auto; max-width: 100%; }
}
`

const styles = styleSource(assetStyle)

export const assetPolicy = (baseUrl: string): string => {
  const { origin } = new URL(baseUrl)
  return `default-src 'none'; style-src ${styles}; img-src 'self' ${origin}; media-src 'self' ${origin}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
}

const property = (name: string, content: string | null) =>
  content === null
    ? ''
    : html`<meta property="${name}" content="${content}">
`

/** Renders the metadata of a public asset's page, for search engines and link previews. */
export function head(asset: ShownAsset, url: string, { language }: Speech): Html {
  const title = titleOf(asset)
  const picture = pictureOf(asset)
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${clip(asset.caption || title)}">
<meta name="twitter:card" content="${picture === null ? 'summary' : 'summary_large_image'}">
${property('og:site_name', 'Annal')}${property('og:type', 'website')}${property('og:url', url)}${property('og:title', title)}${property('og:description', clip(asset.caption || title))}${property('og:locale', language.replace('-', '_'))}${property('og:image', picture)}${property('og:image:alt', picture === null ? null : altOf(asset))}`
}
