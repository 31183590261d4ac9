/** Pieces that pages for administrators are made of. */
import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import type { AdminRequest } from './admin-page.ts'

/** Whatever stands in a cell or beside a name. */
export type Shown = Html | string | number

/** A moment in UTC, for a person; a dash when there is none. */
export const moment = (at: string | null): Html =>
  at === null ? html`–` : html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time>`

/** An identifier, perhaps as a link. */
export const id = (text: string, href?: string): Html =>
  href === undefined ? html`<span class="id">${text}</span>` : html`<a class="id" href="${href}">${text}</a>`

const tones: Record<string, string> = {
  ...{ SUCCESS: 'good', DELIVERED: 'good', active: 'good' },
  ...{ FAILURE: 'bad', GIVEN_UP: 'bad', locked: 'bad', revoked: 'bad', deactivated: 'bad' },
}
const lower = (word: string) => word.toLowerCase().replaceAll('_', ' ')

/** A status in a word. */
export const badge = (status: string): Html => html`<span class="badge ${tones[status] ?? ''}">${lower(status)}</span>`

/** Names with what they stand for. */
export const facts = (...pairs: (readonly [string, Shown] | false)[]): Html =>
  html`<dl class="facts">${pairs.map((pair) => pair && html`<dt>${pair[0]}</dt><dd>${pair[1]}</dd>`)}</dl>`

/** A column of a table. */
export interface Column<Row> {
  name: string
  isNumber?: boolean
  show: (row: Row) => Shown
}

/** A table that can be scrolled by keyboard; a sentence instead when it has no rows. `label` names it for who cannot see it. */
export const table = <Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: string,
): Html =>
  rows.length === 0
    ? html`<p class="quiet">${empty}</p>`
    : html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(({ name, isNumber }) => html`<th scope="col"${isNumber ? html` class="number"` : ''}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(
        (
          row,
        ) => html`<tr>${columns.map(({ show, isNumber }) => html`<td${isNumber ? html` class="number"` : ''}>${show(row)}</td>`)}</tr>
`,
      )}</tbody>
</table></div>`

/** Rows of a page. */
export const PAGE = 50
const MOST_ROWS_BACK = 1_000_000

/** Where a list begins, by the query. */
export const offsetOf = ({ query }: AdminRequest): number => {
  const asked = Number(query.get('offset') ?? 0)
  return Number.isSafeInteger(asked) && asked > 0 && asked < MOST_ROWS_BACK ? asked : 0
}

/** Links to the pages before and after, with all filters kept. */
export function pager(path: string, request: AdminRequest, total: number): Html {
  const offset = offsetOf(request)
  const at = (start: number) => {
    const query = new URLSearchParams(request.query)
    query.delete('done')
    query.set('offset', String(start))
    return `${path}?${query}`
  }
  const last = Math.min(offset + PAGE, total)
  return html`<nav class="pages" aria-label="Pages">
${offset > 0 ? html`<a href="${at(Math.max(0, offset - PAGE))}" rel="prev">Newer</a>` : ''}
<span class="quiet">${total === 0 ? 'None' : `${offset + 1} to ${last} of ${total}`}</span>
${last < total ? html`<a href="${at(offset + PAGE)}" rel="next">Older</a>` : ''}
</nav>`
}

/** One of a few words to choose from; the first stands for no choice. */
export interface Filter {
  name: string
  label: string
  /** Values with their words; a text is typed when left out. */
  options?: readonly (readonly [string, string])[]
}

/** A form that narrows a list, as a GET: its choices stand in the address. */
export const filters = (
  request: AdminRequest,
  all: readonly Filter[],
): Html => html`<form class="filters" method="get" role="search">
${all.map(({ name, label, options }) => {
  const value = request.query.get(name) ?? ''
  return html`<div class="field"><label for="${name}">${label}</label>
${
  options
    ? html`<select id="${name}" name="${name}">${options.map(([key, words]) => html`<option value="${key}"${key === value ? html` selected` : ''}>${words}</option>`)}</select>`
    : html`<input id="${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false">`
}</div>`
})}
<button class="plain">Show</button>
</form>`

/** A heading with where one is, and what was just done. */
export const heading = (
  title: Shown,
  { trail, request }: { trail?: readonly (readonly [string, string])[]; request?: AdminRequest } = {},
): Html => {
  const done = doneWords.get(request?.query.get('done') ?? '')
  return html`${trail ? html`<p class="trail">${trail.map(([href, label]) => html`<a href="${href}">${label}</a> / `)}</p>` : ''}
<h1>${title}</h1>
${done ? html`<div class="notice good" role="status"><p>${done}</p></div>` : ''}`
}

/** What is said of a deed on the page that one comes to after it, by a word in that page's address. */
const doneSentences = {
  refunded: 'The refund was made. The buyer gets a mail.',
  created: 'The network app was registered.',
  updated: 'The network app was changed.',
  deactivated: 'The network app is not sold any more.',
  replayed: 'The delivery is on its way again.',
  revoked: 'The API key was revoked.',
  granted: 'The points were given.',
  locked: 'The account is locked, and its sessions have ended.',
  unlocked: 'The account is unlocked.',
}
const doneWords = new Map(Object.entries(doneSentences))

/** An address with a word for what was done. */
export const doneAt = (path: string, word: keyof typeof doneSentences) => `${path}?done=${word}`
