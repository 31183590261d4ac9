/** List pages for administrators: a filter form, a table, and links to the previous and next pages. */
import { html } from 'hono/html'
import { countLimit } from '../../shared/lists.ts'
import type { Html } from '../pages/page.ts'
import { type Field, refusalNotice, refuseLookup, renderField } from './action.ts'
import { type AdminRequest, type AdminRoute, pageAt, type Refused } from './admin-page.ts'
import { type AmountColumn, type Column, heading, table, words } from './components.ts'

/** A filter of a list. It has the same name as the argument of the GraphQL operation. */
type Filter = Pick<Field, 'name' | 'label' | 'options'>

interface ListPage<Row, Filters> {
  path: string
  title: string
  filters?: readonly Filter[]
  /** Name of the filter with the ID of an object that may not exist. */
  lookupField?: string
  columns: readonly (Column<Row> | AmountColumn<Row>)[]
  /** Sentence that is shown for an empty list. */
  empty: string
  /** Content above the table. */
  about?: Html
  /** Content below the table. */
  actions?: Html
  /**
   * Reads one page of the list. `filters` contains only non-empty filters. `totalCount`: number of rows on all pages,
   * omitted for a list with only one page.
   */
  read(
    filters: Filters,
    request: AdminRequest,
    page: { limit: number; offset: number },
  ): Promise<{ totalCount?: number; nodes: readonly Row[] }>
}

export const statusFilter = (...statuses: string[]): Filter => ({
  name: 'status',
  label: 'Status',
  options: { '': 'Any', ...Object.fromEntries(statuses.map((status) => [status, words(status)])) },
})

const PAGE_ROWS = 50
const MAX_OFFSET = 1_000_000

const offsetOf = ({ query }: AdminRequest): number => {
  const offset = Number(query.get('offset') ?? 0)
  return Number.isSafeInteger(offset) && offset > 0 && offset < MAX_OFFSET ? offset : 0
}

function readFilters(filters: readonly Filter[], { query }: AdminRequest): Record<string, string> {
  const given = filters.map(({ name, options }) => {
    const value = query.get(name)?.trim() ?? ''
    return [name, !options || Object.hasOwn(options, value) ? value : ''] as const
  })
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

/** Formats a total number of rows. Adds "or more" if counting stopped at the limit. `offset`: offset of the page. */
export const inAll = (total: number, offset = 0): string =>
  total < countLimit(offset) ? String(total) : `${total} or more`

/** Renders links to the previous and next page. The links contain all filters. */
function pager(path: string, { query }: AdminRequest, offset: number, total: number): Html {
  const at = (start: number) => {
    const others = new URLSearchParams(query)
    others.delete('done')
    others.set('offset', String(start))
    return `${path}?${others}`
  }
  const last = Math.min(offset + PAGE_ROWS, total)
  const all = inAll(total, offset)
  if (total <= PAGE_ROWS && offset === 0)
    return html`${total > 1 ? html`<p class="quiet count">${all} in total</p>` : ''}`
  return html`<nav class="pages" aria-label="Pages">
${offset > 0 ? html`<a href="${at(Math.max(0, Math.min(offset, total) - PAGE_ROWS))}" rel="prev">Previous</a>` : ''}
<span class="quiet">${offset < total ? `${offset + 1} to ${last} of ${all}` : `${all} in total`}</span>
${last < total ? html`<a href="${at(offset + PAGE_ROWS)}" rel="next">Next</a>` : ''}
</nav>`
}

/** Renders the filter form. The form uses GET, so the URL contains the filters. */
const filterForm = (all: readonly Filter[], { query }: AdminRequest, refused?: Refused): Html =>
  html`<form class="filters" method="get" role="search">
${all.map((filter) => renderField({ ...filter, value: query.get(filter.name) ?? '', isFilter: true }, refused?.fields[filter.name]))}
<button class="plain">Show</button>
</form>`

/** Returns the route of a list page. Errors of a filter are shown beside the filter. */
export const listRoute = <Row, Filters extends object>(list: ListPage<Row, Filters>): AdminRoute =>
  pageAt(list.path, async (request) => {
    const { path, title, filters = [], lookupField, columns, empty, about = '', actions = '' } = list
    const values = readFilters(filters, request)
    const offset = offsetOf(request)
    const top = (refused?: Refused) => html`${refused ? refusalNotice('Correct the marked fields.') : ''}
${heading(title, { request })}
${filters.length ? filterForm(filters, request, refused) : ''}`
    try {
      const { nodes, totalCount } = await list.read(values as Filters, request, { limit: PAGE_ROWS, offset })
      const none = Object.keys(values).length || offset ? html`No results. <a href="${path}">Show all</a>` : empty
      return {
        title,
        content: html`${top()}
${about}
${table(title, columns, nodes, none)}
${totalCount === undefined ? '' : pager(path, request, offset, totalCount)}
${actions}`,
      }
    } catch (error) {
      const refused = refuseLookup(request.refusedFor(error), lookupField)
      if (!refused || !filters.some(({ name }) => Object.hasOwn(refused.fields, name))) throw error
      return { refused, title: `Failed: ${title}`, content: top(refused) }
    }
  })
