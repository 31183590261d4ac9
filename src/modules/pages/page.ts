/** Interface, layout and style of HTML pages. */
import { createHash, randomUUID } from 'node:crypto'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Context } from '../../context.ts'
import { messages } from '../../locales/messages.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { preferredLanguage } from '../../shared/language.ts'

/** Colours for light and dark mode. Text has a contrast of at least 4.5, other elements of at least 3. */
export const palette = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #ffffff; --quiet: #57606a; --line: #6e7781; --field: #ffffff; --box: #f3f4f6; --accent: #0b57d0; --on-accent: #ffffff; --problem: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --ground: #14171a; --quiet: #a8b0b8; --line: #8b949e; --field: #1f2428; --box: #24292f; --accent: #8ab4f8; --on-accent: #14171a; --problem: #ff9c94; --good: #6fdd8b; } }
`

export interface PageRequest {
  params: Record<string, string>
  query: URLSearchParams
  /** Value of the `Accept-Language` header, or an empty string. */
  languages: string
  context: Context
}

export interface PageAnswer {
  status: number
  headers: Record<string, string>
  html: string
}

/** A page with a form that is sent to the page's own URL. */
export interface FormPage {
  path: string
  /** Shows the page without changing data. Throws the errors of services. */
  show(request: PageRequest): Promise<PageAnswer>
  /** Handles the form. Throws the errors of services, except those that the page shows. */
  submit(request: PageRequest, form: URLSearchParams): Promise<PageAnswer>
  /** Renders an error instead of this page. Default: the error page for mailed links. */
  refusal?: Pages['refusal']
}

export interface Pages {
  forms: FormPage[]
  refusal(code: ErrorCode, status: number, languages: string): PageAnswer
}

const NAME = 'key'

export const keyField = () => html`<input type="hidden" name="${NAME}" value="${randomUUID()}">`

export const keyedBy = (form: URLSearchParams, idempotency: Context['idempotency']): Context['idempotency'] => ({
  ...idempotency,
  key: form.get(NAME) || idempotency.key,
})

/** Executes an operation in-process, with the same context and error masking as the APIs. Throws its errors. */
export type Run = <Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  context: Context,
) => Promise<Data>

type Reason = 'busy' | 'down' | 'unread' | 'missing'

const reasons: Partial<Record<ErrorCode, Reason>> = {
  METHOD_NOT_ALLOWED: 'unread',
  NOT_FOUND: 'missing',
  THROTTLED: 'busy',
  VALIDATION_FAILED: 'unread',
  PARSE_ERROR: 'unread',
  PAYLOAD_TOO_LARGE: 'unread',
  UNSUPPORTED_MEDIA_TYPE: 'unread',
}

/** `isMailed`: true if the user opened a mailed link. */
export function refusalPage(code: ErrorCode, status: number, languages: string, isMailed = true): PageAnswer {
  const language = preferredLanguage(languages)
  const { refusal: words } = messages[language].pages
  // On a page without a mailed link, only the URL can be invalid.
  const reason = !isMailed && code === 'VALIDATION_FAILED' ? 'missing' : (reasons[code] ?? 'down')
  const again = reason === 'unread' ? words.unreadAgain : words.again
  const text = isMailed || reason === 'missing' ? words[`${reason}Text`] : again
  return noticePage(status, { language, title: words[reason], kind: 'bad', paragraphs: [text] })
}

/** HTML in which all inserted values are escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

export interface PageParts {
  language: string
  title: string
  content: Html
  head?: Html
  /** Style sheet. Default: `pageStyle`. */
  style?: string
}

/** Style sheet of simple pages. User text has its own writing direction, isolated from the surrounding text. */
export const pageStyle = `${palette}* { box-sizing: border-box; }
body { font: 1.0625rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 3rem auto; padding: 0 1.25rem; color: var(--text); background: var(--ground); overflow-wrap: break-word; -webkit-text-size-adjust: 100%; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.125rem; line-height: 1.4; margin: 0 0 0.25rem; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: 0; }
h1, h3, dt, dd, del, ins, .caption, .message { unicode-bidi: plaintext; }
h1, h3, dt, dd { text-align: left; }
a { color: var(--accent); }
code { background: var(--box); padding: 0.1rem 0.3rem; border-radius: 0.25rem; overflow-wrap: anywhere; unicode-bidi: isolate; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.brand { margin: 0 0 1.5rem; color: var(--quiet); font-weight: 600; }
.notice { border: 1px solid var(--line); border-left: 0.375rem solid var(--problem); border-radius: 0.25rem; padding: 1rem 1.25rem; margin: 0 0 1.5rem; }
h1 + .notice { margin-top: 1.25rem; }
.notice:focus { outline: 3px solid var(--problem); outline-offset: 2px; }
.notice.good { border-left-color: var(--good); }
.notice p { margin: 0; }
.notice p + p { margin-top: 0.5rem; }
.notice a { color: inherit; }
.field { margin: 1.5rem 0; max-width: 24rem; }
label { display: block; font-weight: 600; }
.rule { margin: 0; color: var(--quiet); }
.wrong { margin: 0; color: var(--problem); font-weight: 600; }
input:not([hidden]) { display: block; width: 100%; margin-top: 0.375rem; padding: 0.625rem 0.75rem; font: inherit; color: inherit; background: var(--field); border: 1px solid var(--line); border-radius: 0.375rem; }
input[aria-invalid='true'] { border: 2px solid var(--problem); }
button { min-height: 3rem; padding: 0.625rem 1.5rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 2px solid transparent; border-radius: 0.375rem; cursor: pointer; }
@media (max-width: 30rem) { body { margin-top: 1.5rem; } .field { max-width: none; } button { width: 100%; } }
`

export const styleSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const pageStyleSource = styleSource(pageStyle)

export const layout = ({ language, title, content, head, style = pageStyle }: PageParts): string =>
  String(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(style)}</style>
${head ?? ''}</head>
<body>
<main>
${content}
</main>
</body>
</html>
`)
    // HTML must not contain null characters, even in user input.
    .replaceAll('\0', '\uFFFD')

/** Returns a content security policy that permits only `pageStyle`. */
export const contentPolicy = (forms: 'none' | 'self') =>
  `default-src 'none'; style-src ${pageStyleSource}; base-uri 'none'; form-action '${forms}'; frame-ancestors 'none'`

/** `isPrivate`: true if caches and search engines must not store the page. Caches must revalidate other pages. */
export const pageHeaders = (
  language: string,
  policy: string,
  isPrivate: boolean,
  vary = 'Accept-Language, Authorization',
): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Language': language,
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': isPrivate ? 'no-store' : 'no-cache',
  Vary: vary,
  ...(isPrivate && { 'X-Robots-Tag': 'noindex' }),
})

/** Returns a page whose URL contains a secret. */
export const secretPage = (status: number, parts: PageParts): PageAnswer => ({
  status,
  headers: pageHeaders(parts.language, contentPolicy('self'), true, 'Accept-Language'),
  html: layout({
    ...parts,
    content: html`<p class="brand">Annal</p>
${parts.content}`,
  }),
})

type NoticeParts = { language: string; title: string; kind: 'good' | 'bad'; paragraphs: string[] }

/** Returns a page that reports a result. The URL of the page may contain a secret. */
export const noticePage = (status: number, { language, title, kind, paragraphs }: NoticeParts): PageAnswer =>
  secretPage(status, {
    language,
    title,
    content: html`<h1>${title}</h1>
<div class="notice ${kind}" role="${kind === 'good' ? 'status' : 'alert'}">
${paragraphs.map(
  (paragraph) => html`<p>${paragraph}</p>
`,
)}</div>`,
  })
