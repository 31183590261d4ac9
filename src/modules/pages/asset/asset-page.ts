/**
 * Public page of an asset: metadata, history, and instructions to verify them. It executes one operation of the API
 * and needs no script.
 */

import { html } from 'hono/html'
import { messages } from '../../../locales/messages.ts'
import { DomainError } from '../../../shared/errors.ts'
import { preferredLanguage } from '../../../shared/language.ts'
import { assetPagePath, readerByLink } from '../../assets/asset-links.ts'
import { verifyHistory } from '../../commits/verify-history.ts'
import { hasSignedCopy } from '../../content-credentials/signed-copies.ts'
import { type FormPage, layout, noticePage, type PageAnswer, type PageRequest, type Run, refusalPage } from '../page.ts'
import { type CheckOutcome, check, yourself } from './checked.ts'
import { assetPolicy, assetStyle, head, media } from './head.ts'
import { clip, facts, moment, readAsset, type ShownAsset, type Speech, titleOf, valueText } from './read.ts'
import { credentials, timeline } from './timeline.ts'

const speechOf = (languages: string): Speech => {
  const language = preferredLanguage(languages)
  return { language, words: messages[language].pages.asset }
}

/** Returns the headers. Caches must revalidate a public page, because the asset may become private. */
const headersOf = (isPublic: boolean, { language }: Speech, baseUrl: string): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Language': language,
  'Content-Security-Policy': assetPolicy(baseUrl),
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': isPublic ? 'no-cache' : 'no-store',
  Vary: 'Accept-Language, Authorization',
  ...(!isPublic && { 'X-Robots-Tag': 'noindex' }),
})

const refusalCodes: Partial<Record<DomainError['code'], 'busy' | 'tooLong' | 'notYet'>> = {
  UNAVAILABLE: 'busy',
  VALIDATION_FAILED: 'tooLong',
  CONFLICT: 'notYet',
}

/** Verifies the history on the chain. Throws errors that the user cannot fix. */
async function askTheChain({ params, context }: PageRequest): Promise<CheckOutcome> {
  try {
    return { checked: await verifyHistory(context, params.nid!) }
  } catch (error) {
    const refused = error instanceof DomainError ? refusalCodes[error.code] : undefined
    if (refused === undefined) throw error
    return { refused }
  }
}

/** Renders the metadata. */
const about = (asset: ShownAsset, speech: Speech) => {
  const { language, words } = speech
  const named = ({ displayName, address }: ShownAsset['owner']) =>
    html`<bdi>${displayName}</bdi> <code>${address}</code>`
  return html`<section aria-labelledby="about"><h2 id="about">${words.about}</h2>
${facts(
  [words.registeredBy, named(asset.creator)],
  asset.owner.address !== asset.creator.address && [words.owner, named(asset.owner)],
  [words.registered, moment(asset.uploadedAt, language)],
  asset.commitCount > 1 && [words.changed, moment(asset.updatedAt, language)],
  [words.file, asset.assetFileName],
  [words.identifier, html`<code>${asset.nid}</code>`],
  ['SHA-256', html`<code>${asset.proofHash}</code>`],
)}
</section>`
}

/** Renders the custom fields. They have their own section, because their names may equal those of standard fields. */
const described = (asset: ShownAsset, speech: Speech) => {
  const { words } = speech
  const custom = Object.entries(asset.nitCommitCustom)
  if (custom.length === 0) return html``
  return html`<section aria-labelledby="described"><h2 id="described">${words.described}</h2>
<p>${words.describedText}</p>
${facts(...custom.map(([name, value]) => [clip(name), valueText(value, speech) ?? words.nothing] as const))}
</section>`
}

/** Returns the request with the permissions of its share link. */
async function byLink(request: PageRequest): Promise<PageRequest> {
  const { params, query, context } = request
  const actor = await readerByLink(context, params.nid!, query)
  return { ...request, context: { ...context, actor } }
}

/** Returns the parameters of the share link, for links to other pages. */
function linkOf(query: URLSearchParams): Record<string, string> {
  const parts = ['link', 'expires', 'signature'].map((name) => [name, query.get(name)])
  return Object.fromEntries(parts.filter(([, value]) => value !== null))
}

const addressOf = (path: string, query: Record<string, string>) => {
  const text = new URLSearchParams(query).toString()
  return text ? `${path}?${text}` : path
}

/** Creates the pages of assets. Their form verifies the history on the chain. */
export function createAssetPage({ run }: { run: Run }): FormPage {
  async function page(request: PageRequest, outcome?: CheckOutcome): Promise<PageAnswer> {
    const { params, query, context, languages } = request
    const speech = speechOf(languages)
    const older = query.get('older')
    const asset = await readAsset(run, params.nid!, older, context)
    const place = await context.histories?.place()
    const hasC2pa = await hasSignedCopy(context, asset.nid)
    const link = asset.publicAccess ? {} : linkOf(query)
    const { baseUrl } = context
    const url = baseUrl + assetPagePath(asset.nid)
    const at = (cursor?: string) => addressOf(url, { ...link, ...(cursor !== undefined && { older: cursor }) })
    const checked = outcome && 'checked' in outcome ? outcome.checked : undefined
    const isWritten = ['INCLUDED', 'FINAL'].includes(asset.registration.status)
    const proofUrl = isWritten ? addressOf(`${baseUrl}/api/v3/assets/${asset.nid}/proof/`, link) : null
    const title = titleOf(asset)
    return {
      status: 200,
      headers: headersOf(asset.publicAccess, speech, baseUrl),
      html: layout({
        language: speech.language,
        title: `${title} – Annal`,
        style: assetStyle,
        ...(asset.publicAccess && { head: head(asset, url, speech) }),
        content: html`<p class="brand">Annal</p>
<h1>${title}</h1>
${asset.publicAccess ? '' : html`<p class="quiet">${speech.words.private}</p>`}
${media(asset, hasC2pa, speech)}
${asset.caption && html`<p class="caption">${asset.caption}</p>`}
${about(asset, speech)}
${described(asset, speech)}
${credentials(asset, speech)}
${check(outcome, speech)}
${timeline(asset, { at, isNewest: older === null, checked }, speech)}
${yourself(asset, { proofUrl, place, baseUrl }, speech)}`,
      }),
    }
  }

  return {
    path: '/assets/:nid',
    reason: 'A page for people: what an asset is, its history, and how to check it.',
    show: async (request) => page(await byLink(request)),
    async submit(request) {
      const read = await byLink(request)
      return page(read, await askTheChain(read))
    },
    refusal(code, status, languages) {
      if (code !== 'NOT_FOUND') return refusalPage(code, status, languages, false)
      const { language, words } = speechOf(languages)
      return noticePage(status, {
        language,
        title: words.missing,
        kind: 'bad',
        paragraphs: [words.missingText, words.missingNext],
      })
    },
  }
}
