/** HTML components of the pages for administrators. */
import { html } from 'hono/html'
import type { Html } from '../pages/page.ts'
import type { AdminRequest } from './admin-page.ts'

/** Content of a table cell, or the value in a list of facts. */
export type Shown = Html | string | number

/** Renders a time in UTC, or a dash for null. */
export const formatTime = (at: string | null): Html =>
  at === null ? html`–` : html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time>`

export const words = (value: string) => value.toLowerCase().replaceAll('_', ' ')

export const userLink = (user: { id: string; username: string }) =>
  html`<a href="/admin/users/${user.id}">${user.username}</a>`
export const appLink = (app: { id: string; name: string }) => html`<a href="/admin/apps/${app.id}">${app.name}</a>`

/** Renders an ID, optionally as a link. */
export const id = (text: string, href?: string): Html =>
  href === undefined ? html`<span class="id">${text}</span>` : html`<a class="id" href="${href}">${text}</a>`

const tones: Record<string, readonly string[]> = {
  good: ['SUCCESS', 'DELIVERED', 'CREDITED', 'CONFIRMED', 'active'],
  bad: ['FAILURE', 'FAILED', 'FROZEN', 'GIVEN_UP', 'locked', 'revoked', 'deactivated'],
}
const toneOf = (status: string) => Object.keys(tones).find((tone) => tones[tone]!.includes(status)) ?? ''
export type Breadcrumbs = Record<string, string>

export const badge = (status: string): Html => html`<span class="badge ${toneOf(status)}">${words(status)}</span>`

export const facts = (...pairs: (readonly [string, Shown] | false)[]): Html =>
  html`<dl class="facts">${pairs.map((pair) => pair && html`<dt>${pair[0]}</dt><dd>${pair[1]}</dd>`)}</dl>`

export interface Column<Row> {
  name: string
  isNumber?: boolean
  show: (row: Row) => Shown
}

/** A column of amounts that are aligned at the decimal point. */
export interface AmountColumn<Row> {
  name: string
  amount: (row: Row) => string
}

/** Returns a number column that pads amounts with spaces of the width of a digit and of a decimal point. */
function amountColumn<Row>({ name, amount }: AmountColumn<Row>, rows: readonly Row[]): Column<Row> {
  const decimalsOf = (row: Row) => amount(row).split('.')[1]?.length ?? 0
  const decimals = Math.max(0, ...rows.map(decimalsOf))
  const padding = (row: Row) => (decimals > 0 && decimalsOf(row) === 0 ? '\u2008' : '')
  const show = (row: Row) => amount(row) + padding(row) + '\u2007'.repeat(decimals - decimalsOf(row))
  return { name, isNumber: true, show }
}

/** Renders a table that the keyboard can scroll, or `empty` without rows. `label`: table name for screen readers. */
export function table<Row>(
  label: string,
  given: readonly (Column<Row> | AmountColumn<Row>)[],
  rows: readonly Row[],
  empty: Shown,
): Html {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`
  const columns = given.map((column) => ('amount' in column ? amountColumn(column, rows) : column))
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${columns.map(({ name, isNumber }) => html`<th scope="col"${isNumber ? html` class="number"` : ''}>${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map(({ show, isNumber }) => html`<td${isNumber ? html` class="number"` : ''}>${show(row)}</td>`)}</tr>`)}</tbody>
</table></div>`
}

/** Renders a heading with the breadcrumb links and the message of the last action. */
export const heading = (
  title: Shown,
  { breadcrumbs, request }: { breadcrumbs?: Breadcrumbs; request?: AdminRequest } = {},
): Html => {
  const done = new Map(Object.entries(doneSentences)).get(request?.query.get('done') ?? '')
  return html`${breadcrumbs ? html`<p class="breadcrumbs">${Object.entries(breadcrumbs).map(([href, label]) => html`<a href="${href}">${label}</a> / `)}</p>` : ''}
<h1>${title}</h1>
${done ? html`<div class="notice good" role="status"><p>${done}</p></div>` : ''}`
}

/** Messages about completed actions, by the value of the URL parameter `done`. */
const doneSentences = {
  refunded: 'The order was refunded. The buyer gets an e-mail.',
  created: 'The network app was created.',
  updated: 'The network app was updated.',
  deactivated: 'The network app was deactivated.',
  replayed: 'The delivery is being sent again.',
  tested: 'The test event was sent. Reload the page to see the response.',
  revoked: 'The API key was revoked.',
  granted: 'The points were granted.',
  locked: 'The account is locked, and its sessions have ended.',
  unlocked: 'The account is unlocked.',
}

/** Adds the parameter `done` to a path, so that the page shows the message about a completed action. */
export const doneAt = (path: string, word: keyof typeof doneSentences) => `${path}?done=${word}`
