import type { ObjectRef } from '@pothos/core'
import type { Context } from '../context.ts'
import { validationFailed } from '../shared/errors.ts'
import { MAX_COUNTED } from '../shared/lists.ts'
import { builder, omitNullish } from './builder.ts'

type Arguments = Pick<PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, unknown>, 'arg'>

export const offsetArg = (t: Arguments) =>
  t.arg.int({
    description:
      'Number of items to skip at the start of the list. With `last` or `before`, items are skipped at the end.',
  })

export const searchArg = (t: Arguments, fields: string) =>
  t.arg.string({ description: `Returns items with all of these words in ${fields}. Case does not matter.` })

type Page = { skip?: number | undefined }

/** Adds `offset` to `skip` in a list query. A skip of zero is omitted, because reads without `skip` are faster. */
export const withOffset = <Query extends Page>(query: Query, offset: number | null | undefined) => ({
  ...query,
  skip: (query.skip ?? 0) + (offset ?? 0) || undefined,
})

const ListOrder = builder.enumType('ListOrder', {
  description: 'The time by which a list is sorted.',
  values: {
    CREATED_AT: { description: 'The time of creation.' },
    UPDATED_AT: { description: 'The time of the last update.' },
  } as const,
})

export const orderByArg = (t: Arguments) =>
  t.arg({ type: ListOrder, description: 'Timestamp by which the list is sorted, always newest first.' })

export const totalCountDescription = 'Number of items on all pages. Counted only when requested.'

export const boundedCountDescription = `${totalCountDescription} The count stops at ${MAX_COUNTED} or shortly after this page, so there may be more items.`

/** Returns the number of items of a connection on all pages. It is counted only when `totalCount` is requested. */
export function totalCountOf(connection: object) {
  const { totalCount } = connection as { totalCount?: number | (() => number | Promise<number>) }
  return typeof totalCount === 'function' ? totalCount() : totalCount!
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Formats of valid cursors, which contain a row's unique columns. A cursor is untrusted and may decode to anything. */
const forms = {
  id: new RegExp(`^GPC:S:${uuid}$`),
  assetId_sequence: new RegExp(`^GPC:T:\\["S:${uuid}","N:\\d{1,9}"\\]$`),
}

/** Maximum length of a cursor, in characters. */
const MAX_LENGTH = 200

/** Rejects cursors that do not belong to this kind of list. Throws VALIDATION_FAILED. */
export function assertCursors(
  kind: keyof typeof forms,
  { after, before }: { after?: string | null; before?: string | null },
): void {
  for (const [name, cursor] of Object.entries({ after, before })) {
    if (cursor == null) continue
    if (cursor.length > MAX_LENGTH || !forms[kind].test(Buffer.from(cursor, 'base64').toString())) {
      throw validationFailed({ [name]: ['The value is not a cursor of this connection.'] })
    }
  }
}

type Nullish<Fields> = { [Key in keyof Fields]?: Fields[Key] | null }

type ListArgs<Filter> = Nullish<
  Filter & { filter: Nullish<Filter>; offset: number; first: number; last: number; after: string; before: string }
>

/** Returns the conditions of a list: the fields of the argument `filter`, and all arguments that select no page. */
function filterOf<Filter>(args: ListArgs<Filter>): Filter {
  const { filter, offset, first, last, after, before, ...others } = args
  return omitNullish({ ...filter, ...others }) as Filter
}

/** Creates the resolvers of a connection. `list` returns a page, and `count` the number of items on all pages. */
export const listResolvers = <Filter, Query extends Page, Item>(
  list: (context: Context, filter: Filter, query: Query) => Promise<Item[]>,
  count: (context: Context, filter: Filter, offset?: number | null) => Promise<number>,
) => ({
  totalCount: (_connection: unknown, args: ListArgs<Filter>, context: Context) =>
    count(context, filterOf(args), args.offset),
  resolve: (query: Query, _root: unknown, args: ListArgs<Filter>, context: Context) => {
    assertCursors('id', args)
    return list(context, filterOf(args), withOffset(query, args.offset))
  },
})

/** Creates the connection type `<name>Connection`. `item` and `items` name its items, as in "an order" and "orders". */
export const connectionOf = <Shape>(
  type: ObjectRef<typeof builder.$inferSchemaTypes, Shape>,
  name: string,
  [item, items]: readonly [string, string],
  description = totalCountDescription,
) =>
  builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: `A page of ${items}.`,
      fields: (t) => ({ totalCount: t.int({ description, resolve: totalCountOf }) }),
    },
    { name: `${name}Edge`, description: `${item.charAt(0).toUpperCase()}${item.slice(1)} with its cursor.` },
  )

export const idInputType = <Field extends string = 'id'>(
  name: string,
  description: string,
  fieldDescription: string,
  field = 'id' as Field,
) =>
  builder.inputType(name, {
    description,
    fields: (t) =>
      ({ [field]: t.id({ required: true, description: fieldDescription }) }) as {
        [Key in Field]: ReturnType<typeof t.id<true>>
      },
  })
