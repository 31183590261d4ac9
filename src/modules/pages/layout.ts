/** How every page looks. Works without scripts, on a phone, in the dark and in a screen reader; loads nothing. */
import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { PageAnswer } from './page.ts'
import { palette } from './palette.ts'

/** HTML in which everything that was filled in is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** What differs from page to page. */
export interface PageParts {
  /** As the attribute `lang` has it. */
  language: string
  title: string
  content: Html
  /** What else stands in the head. */
  head?: Html
  /** Instead of the style sheet of the small pages. */
  style?: string
}

/** The style sheet of the small pages. What people wrote has the direction of its own writing, and turns nothing beside it. */
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

/** By whose hash a policy allows a style sheet. */
export const styleSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const pageStyleSource = styleSource(pageStyle)

/** A whole page as HTML. */
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
    // HTML has no null characters, not even in what somebody typed.
    .replaceAll('\0', '\uFFFD')

/** Only the style sheet above counts, forms go nowhere else, and no other page may frame this one. */
export const contentPolicy = (forms: 'none' | 'self') =>
  `default-src 'none'; style-src ${pageStyleSource}; base-uri 'none'; form-action '${forms}'; frame-ancestors 'none'`

/** A page at an address that holds a secret: it is kept by nobody, and the address is told to nobody. */
export const secretPage = (status: number, parts: PageParts): PageAnswer => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': parts.language,
    'Content-Security-Policy': contentPolicy('self'),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex',
    Vary: 'Accept-Language',
  },
  html: layout({
    ...parts,
    content: html`<p class="brand">Annal</p>
${parts.content}`,
  }),
})

interface NoticeParts {
  language: string
  title: string
  /** Whether what the person wanted is done. */
  kind: 'good' | 'bad'
  paragraphs: string[]
}

/** A page at such an address that tells what happened, and has nothing to fill in. */
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
