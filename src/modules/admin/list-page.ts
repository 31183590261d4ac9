/** Lists: a form that narrows them, a table, and links to the pages before and after. */
import { html } from 'hono/html'
import { countLimit } from '../../shared/lists.ts'
import type { Html } from '../pages/page.ts'
import { type Refused, refusalNotice, refusedNaming, renderField, type TellRefusal } from './action.ts'
import type { AdminRequest, AdminRoute } from './admin-page.ts'
import { type AmountColumn, type Column, heading, table } from './components.ts'

/** What narrows a list, under the name that its operation has for it. */
export interface Filter {
  name: string
  label: string
  /** Values with their words, of which the first stands for no choice; a text is typed when left out. */
  options?: readonly (readonly [string, string])[]
}

/** A part of a list. */
export interface ListPart<Row> {
  /** None of a list that has no further pages: how many would fit is not known. */
  totalCount?: number
  nodes: readonly Row[]
}

/** A list and where it is read. */
export interface ListPage<Row> {
  path: string
  title: string
  filters?: readonly Filter[]
  /** The filter in which somebody is named who may not be there. */
  naming?: string
  columns: readonly (Column<Row> | AmountColumn<Row>)[]
  /** A sentence for when there is nothing at all. */
  empty: string
  /** Stands above the table. */
  about?: Html
  /** Stands below the table. */
  actions?: Html
  /** `asked`: what was typed or chosen, without what was left empty. Raises what operations raise. */
  read(
    asked: Record<string, string>,
    request: AdminRequest,
    page: { limit: number; offset: number },
  ): Promise<ListPart<Row>>
}

const PAGE_ROWS = 50
const MOST_ROWS_BACK = 1_000_000

const offsetOf = ({ query }: AdminRequest): number => {
  const asked = Number(query.get('offset') ?? 0)
  return Number.isSafeInteger(asked) && asked > 0 && asked < MOST_ROWS_BACK ? asked : 0
}

function askedOf(filters: readonly Filter[], { query }: AdminRequest): Record<string, string> {
  const given = filters.map(({ name, options }) => {
    const value = query.get(name)?.trim() ?? ''
    return [name, !options || options.some(([key]) => key === value) ? value : ''] as const
  })
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

/** A total, which says only that there are so many at least where no more were counted. `offset`: of the page that it was counted for. */
export const inAll = (total: number, offset = 0): string =>
  total < countLimit(offset) ? String(total) : `${total} or more`

/** Links to the pages before and after, with all filters kept. */
function pager(path: string, { query }: AdminRequest, offset: number, total: number): Html {
  const at = (start: number) => {
    const kept = new URLSearchParams(query)
    kept.delete('done')
    kept.set('offset', String(start))
    return `${path}?${kept}`
  }
  const last = Math.min(offset + PAGE_ROWS, total)
  const all = inAll(total, offset)
  if (total <= PAGE_ROWS && offset === 0)
    return html`${total > 1 ? html`<p class="quiet count">${all} in all</p>` : ''}`
  return html`<nav class="pages" aria-label="Pages">
${offset > 0 ? html`<a href="${at(Math.max(0, Math.min(offset, total) - PAGE_ROWS))}" rel="prev">Previous</a>` : ''}
<span class="quiet">${offset < total ? `${offset + 1} to ${last} of ${all}` : `${all} in all`}</span>
${last < total ? html`<a href="${at(offset + PAGE_ROWS)}" rel="next">Next</a>` : ''}
</nav>`
}

function control({ name, options }: Filter, value: string, attributes: Html): Html {
  return options
    ? html`<select id="${name}" name="${name}"${attributes}>${options.map(([key, words]) => html`<option value="${key}"${key === value ? html` selected` : ''}>${words}</option>`)}</select>`
    : html`<input id="${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false"${attributes}>`
}

/** A form as a GET: its choices stand in the address. */
const filterForm = (all: readonly Filter[], { query }: AdminRequest, refused?: Refused): Html =>
  html`<form class="filters" method="get" role="search">
${all.map((filter) =>
  renderField(filter, refused?.fields[filter.name], (_, attributes) =>
    control(filter, query.get(filter.name) ?? '', attributes),
  ),
)}
<button class="plain">Show</button>
</form>`

const isAbout = (filters: readonly Filter[], { fields }: Refused) =>
  filters.some(({ name }) => Object.hasOwn(fields, name))

/** A list as a page. What is wrong with a filter is told beside it. */
export const listRoute = <Row>(tell: TellRefusal, list: ListPage<Row>): AdminRoute => ({
  method: 'GET',
  path: list.path,
  async answer(request) {
    const { path, title, filters = [], naming, columns, empty, about = '', actions = '' } = list
    const asked = askedOf(filters, request)
    const offset = offsetOf(request)
    const top = (refused?: Refused) => html`${refused ? refusalNotice('Something is not as it has to be.') : ''}
${heading(title, { request })}
${filters.length ? filterForm(filters, request, refused) : ''}`
    try {
      const { nodes, totalCount } = await list.read(asked, request, { limit: PAGE_ROWS, offset })
      const none = Object.keys(asked).length || offset ? html`Nothing fits. <a href="${path}">Show all</a>` : empty
      return {
        title,
        content: html`${top()}
${about}
${table(title, columns, nodes, none)}
${totalCount === undefined ? '' : pager(path, request, offset, totalCount)}
${actions}`,
      }
    } catch (error) {
      const refused = refusedNaming(tell(error, request), naming)
      if (!refused || !isAbout(filters, refused)) throw error
      return { refused, title: `Not shown: ${title}`, content: top(refused) }
    }
  },
})
