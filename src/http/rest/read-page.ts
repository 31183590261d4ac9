/** Reads a page of a list in parts and streams it, so that a page is never shorter than asked for and memory stays bounded. */
import type { Context } from '../../services-context.ts'
import { MAX_FOREIGN_OFFSET, MAX_OFFSET } from '../../shared/lists.ts'
import type { ListSource, Part, RestRequest, Route } from './define-route.ts'
import { type Answer, type Executor, executeOperation } from './execute.ts'
import { type AskedPage, invalidPage, type LinkCursor, linkTo, pageFrom } from './pagination.ts'
import { writeJson } from './raw-json.ts'

/** A route with a list. */
type ListRoute = Route & { list: ListSource }

/** A part of a list in the order of the page. */
interface Found {
  data: unknown
  count: number
  nodes: unknown[]
  /** Cursor of the first item; null without items. */
  start: string | null
  /** Cursor of the last item; null without items. */
  end: string | null
}

type Read = (part: Part) => Promise<Found>

const nothingFound: Found = { data: undefined, count: 0, nodes: [], start: null, end: null }

/** A position in a list: behind the item of a cursor, or at its start, and so many items further. */
interface Place {
  cursor: string | null
  offset: number
}

/** The arguments for `size` items from a place on, in the direction of the page or against it. */
function partFrom(
  { isReversed, search }: AskedPage,
  size: number,
  { cursor, offset }: Place,
  isBackwards = false,
): Part {
  const place = cursor ?? undefined
  const skipped = offset > 0 ? { offset } : {}
  const shared = { ...skipped, ...(search !== undefined && { search }) }
  return isBackwards === isReversed
    ? { first: size, after: place, ...shared }
    : { last: size, before: place, ...shared }
}

/** The arguments of the operation that reads the first part of a page. */
export const firstPart = (asked: AskedPage, partSize: number): Part =>
  partFrom(asked, Math.min(asked.limit, partSize), { cursor: null, offset: asked.offset })

/**
 * The page with its number and position, and the place where it starts. Far into a list that is a cursor. Raises NOT_FOUND for a page number
 * beyond the end.
 */
async function locate(
  given: AskedPage,
  { hasBoundedCount, cursorLinks }: ListSource,
  query: URLSearchParams,
  read: Read,
): Promise<{ asked: AskedPage; place: Place }> {
  const { page, limit, offset } = given
  const isFar = (position: number) => cursorLinks === 'far' && position > MAX_FOREIGN_OFFSET
  /** The item that precedes the page, so that the page is read forwards. */
  const before = async (place: Place) => ({ cursor: (await read(partFrom(given, 1, place, true))).end, offset: 0 })
  const cursors = isFar(offset) ? query : undefined
  if (cursors?.get('after')) return { asked: given, place: { cursor: cursors.get('after'), offset: 0 } }
  if (cursors?.get('before')) {
    return { asked: given, place: await before({ cursor: cursors.get('before'), offset: limit }) }
  }
  // A page that is not far into the list is checked when it is read.
  if (page === undefined || (page !== 'last' && offset <= MAX_FOREIGN_OFFSET)) {
    return { asked: given, place: { cursor: null, offset } }
  }
  const { count } = await read(partFrom(given, 1, { cursor: null, offset: hasBoundedCount ? MAX_OFFSET : 0 }))
  const pages = Math.max(1, Math.ceil(count / limit))
  if (page !== 'last') {
    if (page > pages) throw invalidPage()
    return { asked: given, place: { cursor: null, offset } }
  }
  const asked = { ...given, page: pages, offset: (pages - 1) * limit }
  if (!isFar(asked.offset)) return { asked, place: { cursor: null, offset: asked.offset } }
  return { asked, place: await before({ cursor: null, offset: count - asked.offset }) }
}

/**
 * Reads a page. The parts of a page that one operation does not return are read while the page is sent. Its `next` is then the last key,
 * because it can depend on the last part. Raises VALIDATION_FAILED, NOT_FOUND for a page number that does not exist, and what the operation
 * raises.
 */
export async function readPage(
  executor: Executor,
  { operation, list }: ListRoute,
  request: RestRequest,
  context: Context,
): Promise<Answer> {
  const { key, cursorLinks, partSize } = list
  const reading = { ...context, cutsPages: true }
  const given = pageFrom(request, list.order)
  const read: Read = async (part) => {
    if (list.isEmpty?.(request.query)) return nothingFound
    const data = await executeOperation(executor, operation, list.variables(request, part), reading)
    const { totalCount: count, pageInfo, nodes } = list.connectionOf(data, part)
    const { startCursor, endCursor } = pageInfo
    return given.isReversed
      ? { data, count, nodes: nodes.toReversed(), start: endCursor, end: startCursor }
      : { data, count, nodes, start: startCursor, end: endCursor }
  }

  const { asked, place } = await locate(given, list, request.query, read)
  const { page, limit, offset } = asked
  const isByCursor = place.cursor !== null
  const first = await read(partFrom(asked, Math.min(limit, partSize), place))
  const { count, start } = first
  if (typeof page === 'number' && page > 1 && !isByCursor && offset >= count) throw invalidPage()

  let { end } = first
  let delivered = first.nodes.length
  /** Returns whether items may follow. The count says nothing behind a cursor: items before it may have been removed since. */
  const mayFollow = () => end !== null && (isByCursor || offset + delivered < count)
  const rest = (size: number) => read(partFrom(asked, size, { cursor: end, offset: 0 }))

  const link = (to: number, name: LinkCursor['name'], cursor: string | null) =>
    linkTo(request, asked, to, cursorLinks === 'far' ? { name, cursor } : undefined)
  const previous = offset > 0 ? link(Math.max(offset - limit, 0), 'before', start) : null
  async function next(): Promise<string | null> {
    if (!mayFollow()) return null
    if (isByCursor && (await rest(1)).nodes.length === 0) return null
    if (cursorLinks !== 'always' || page !== undefined || offset > 0 || asked.isReversed) {
      return link(offset + delivered, 'after', end)
    }
    const query = new URLSearchParams(request.query)
    query.set('after', end!)
    return linkTo({ ...request, query }, asked, 0)
  }

  const facts = list.facts?.(first.data)
  const items = first.nodes.map(list.present)
  if (delivered >= limit || !mayFollow()) {
    return { status: 200, body: { ...facts, count, next: await next(), previous, [key]: items } }
  }

  async function* parts() {
    yield Buffer.from(`${writeJson({ ...facts, count, previous }).slice(0, -1)},"${key}":[${itemsAsText(items)}`)
    while (delivered < limit && mayFollow()) {
      const part = await rest(Math.min(limit - delivered, partSize))
      end = part.end
      delivered += part.nodes.length
      if (part.nodes.length > 0) yield Buffer.from(`,${itemsAsText(part.nodes.map(list.present))}`)
    }
    yield Buffer.from(`],"next":${JSON.stringify(await next())}}`)
  }
  return { status: 200, parts: parts() }
}

const itemsAsText = (items: unknown[]) => writeJson(items).slice(1, -1)
