/** How the page that looks files up looks, and what it may do: its own style and scripts by their hashes, and no request but its form. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pageStyle, styleSource } from '../layout.ts'

/** The style sheet. */
export const lookupStyle = `${pageStyle}
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

/** A SHA-256 that reads piece by piece, which browsers do not bring, and what the page does with it. */
export const lookupScript = `${read(hasher)};\n{${read(new URL('hash.js', import.meta.url))}}`

const script = `'sha256-${createHash('sha256').update(lookupScript).digest('base64')}' 'wasm-unsafe-eval'`

/** Whatever the script does with a file, it can send nothing: only the form goes anywhere, to this service. */
export const lookupPolicy = `default-src 'none'; style-src ${styleSource(lookupStyle)}; script-src ${script}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
