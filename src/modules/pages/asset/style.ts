/** How an asset's page looks, on a screen and on paper: one style sheet, inline, by whose hash alone styles are allowed. */
import { pageStyle, styleSource } from '../layout.ts'

/** The style sheet. */
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

/** What a page may load: its own style, and pictures, films and sounds of this service. No script runs, and forms go nowhere else. */
export const assetPolicy = (baseUrl: string): string => {
  const { origin } = new URL(baseUrl)
  return `default-src 'none'; style-src ${styles}; img-src 'self' ${origin}; media-src 'self' ${origin}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
}
