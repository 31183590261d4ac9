/** Page that shows whether a file is registered. A script computes its hash. Without scripts, the user enters the hash. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { html, raw } from 'hono/html'
import { fill, type Messages, messages } from '../../../locales/messages.ts'
import type { ErrorCode } from '../../../shared/errors.ts'
import { canonicalNid } from '../../../shared/ids.ts'
import { type Language, preferredLanguage } from '../../../shared/language.ts'
import { facts, timeElement, titleOf } from '../asset/read.ts'
import type { LookupPageQuery } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import type { FormPage, Html, PageAnswer, PageRequest, Run } from '../page.ts'
import { layout, pageHeaders, pageStyle, refusalPage, styleSource } from '../page.ts'

const lookupStyle = `${pageStyle}
p { margin: 0 0 0.75rem; }
section { margin-top: 2rem; }
[hidden] { display: none; }
progress { display: block; width: 100%; max-width: 24rem; height: 0.75rem; margin-top: 0.75rem; accent-color: var(--accent); }
h3 { margin: 0 0 0.5rem; }
#status { margin: 0.5rem 0 0; }
#status:empty { margin: 0; }
.field { max-width: none; }
.registrations { list-style: none; margin: 0; padding: 0; }
.registrations > li { border-left: 0.25rem solid var(--good); padding: 0 0 0 1rem; margin: 0 0 1.5rem; }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.25rem 1.25rem; margin: 0 0 0.75rem; }
.facts dt { margin: 0; font-weight: 400; color: var(--quiet); }
.facts dd { min-width: 0; overflow-wrap: anywhere; }
.notice.open { border-left-color: var(--line); }
.notice h2 { margin: 0 0 0.5rem; }
@media (max-width: 30rem) { .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: 0.5rem; } }
`

const read = (url: URL | string) => readFileSync(url, 'utf8')
const hasher = createRequire(import.meta.url).resolve('hash-wasm/dist/sha256.umd.min.js')

/** Browsers do not provide an incremental SHA-256. */
export const lookupScript = `${read(hasher)};\n{${read(new URL('hash.js', import.meta.url))}}`

const script = `'sha256-${createHash('sha256').update(lookupScript).digest('base64')}' 'wasm-unsafe-eval'`

/** The script cannot send the file. Forms go only to this service. */
const lookupPolicy = `default-src 'none'; style-src ${styleSource(lookupStyle)}; script-src ${script}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

const LookupPage = graphql(/* GraphQL */ `
  query LookupPage($sha256: String, $cid: String, $first: Int!, $after: String) {
    lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes {
        nid headline assetFileName uploadedAt commitCount
        creator { displayName }
        registration { status }
      }
    }
  }
`)

type Registrations = LookupPageQuery['lookup']
type Outcome = { registrations: Registrations } | 'wrong' | undefined

type Speech = { language: Language; words: Messages['pages']['lookup'] }

/** Matches a SHA-256 in hexadecimal as a separate word. */
const HASH = /(?<![0-9a-z])[0-9a-f]{64}(?![0-9a-z])/gi

/**
 * Parses a hash or a CID that a person typed or copied. The text may be a whole line of `sha256sum`, `openssl` or
 * PowerShell, with the file name. A hash at the start takes precedence. Otherwise the last hash is used.
 */
function fileOf(given: string): { sha256: string } | { cid: string } {
  const text = given.replace(/\s/g, '')
  if (canonicalNid(text) !== undefined) return { cid: text }
  const [first, ...others] = [...given.trim().matchAll(HASH)]
  if (first) return { sha256: (first.index <= 1 ? first : (others.at(-1) ?? first))[0].toLowerCase() }
  return { sha256: text.toLowerCase() }
}

const form = (given: string, isWrong: boolean, { words }: Speech): Html =>
  html`<div id="choose" class="field" hidden>
<label for="upload">${words.choose}</label>
<p class="rule" id="upload-rule">${words.chooseText}</p>
<input type="file" id="upload" autocomplete="off" aria-describedby="upload-rule">
<progress aria-label="${words.progress}" max="1" value="0" hidden></progress>
<p id="status" role="status" data-reading="${words.reading}" data-done="${words.done}" data-failed="${words.failed}"></p>
</div>
<form method="get" action="/lookup">
<div class="field">
<label for="file">${words.or}</label>
<p class="rule" id="file-rule">${words.orText}</p>
${isWrong ? html`<p class="wrong" id="file-wrong" role="alert">${words.wrong}</p>` : ''}
<input id="file" name="file" value="${given}" autocomplete="off" autocapitalize="none" spellcheck="false" required aria-describedby="${isWrong ? 'file-wrong ' : ''}file-rule"${isWrong ? raw(' aria-invalid="true"') : ''}>
</div>
<button type="submit">${words.button}</button>
</form>`

const registered = (asset: Registrations['nodes'][number], { language, words }: Speech): Html =>
  html`<li><h3>${titleOf(asset)}</h3>
${facts(
  [words.registered, timeElement(asset.uploadedAt, language)],
  [words.by, asset.creator.displayName],
  [words.commits, String(asset.commitCount)],
  [words.chain, words.statuses[asset.registration.status]],
)}
<p><a href="/assets/${asset.nid}">${words.link}</a></p></li>`

function renderResult(given: string, { totalCount, nodes, pageInfo }: Registrations, speech: Speech): Html {
  const { words } = speech
  const isKnown = totalCount > 0
  const next = `/lookup?${new URLSearchParams({ file: given, after: pageInfo.endCursor ?? '' })}`
  return html`<div class="notice ${isKnown ? 'good' : 'open'}" role="status">
<h2>${isKnown ? words.found : words.unknown}</h2>
<p>${isKnown ? words.foundText : words.unknownText}</p>
<p>${words.searched}: <code>${given}</code></p>
${totalCount > 1 ? html`<p>${fill(words.foundMany, { count: totalCount })}</p>` : ''}
</div>
${isKnown ? html`<ul class="registrations">${nodes.map((asset) => registered(asset, speech))}</ul>` : ''}
${pageInfo.hasNextPage ? html`<p><a href="${next}">${words.more}</a></p>` : ''}`
}

function page(given: string, outcome: Outcome, speech: Speech): PageAnswer {
  const { language, words } = speech
  const found = typeof outcome === 'object' ? outcome.registrations : undefined
  const heading = found ? (found.totalCount > 0 ? words.found : words.unknown) : words.title
  const title = outcome === 'wrong' ? fill(words.problemTitle, { title: words.title }) : heading
  return {
    status: outcome === 'wrong' ? 400 : 200,
    // The hash in the response reveals which file a user has.
    headers: pageHeaders(language, lookupPolicy, given !== ''),
    html: layout({
      language,
      title: `${title} – Annal`,
      style: lookupStyle,
      content: html`<p class="brand">Annal</p>
<h1>${words.title}</h1>
${found ? renderResult(given, found, speech) : html`<p>${words.intro}</p>`}
${form(given, outcome === 'wrong', speech)}
<script>${raw(lookupScript)}</script>`,
    }),
  }
}

type Dependencies = { run: Run; codeOf: (error: unknown) => ErrorCode | undefined }

/** The parameter or form field `file` contains the file's SHA-256 or CID. */
export function createLookupPage({ run, codeOf }: Dependencies): FormPage {
  async function lookUp({ languages, context }: PageRequest, given: string, after: string | null) {
    const language = preferredLanguage(languages)
    const speech = { language, words: messages[language].pages.lookup }
    if (given === '') return page('', undefined, speech)
    try {
      const { lookup } = await run(LookupPage, { ...fileOf(given), first: 20, after }, context)
      return page(given, { registrations: lookup }, speech)
    } catch (error) {
      // If only a cursor is invalid, the typed input is not the cause.
      if (codeOf(error) === 'VALIDATION_FAILED' && after === null) return page(given, 'wrong', speech)
      throw error
    }
  }

  return {
    path: '/lookup',
    show: (request) => lookUp(request, (request.query.get('file') ?? '').trim(), request.query.get('after')),
    submit: (request, given) => lookUp(request, (given.get('file') ?? '').trim(), null),
    refusal: (code, status, languages) => refusalPage(code, status, languages, false),
  }
}
