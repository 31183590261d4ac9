/** Arguments that connections share besides those of Relay: paging by position, and a search. */
import type { builder } from './builder.ts'

type Arguments = Pick<PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, unknown>, 'arg'>

/** The argument `offset` of a list. */
export const offsetArg = (t: Arguments) =>
  t.arg.int({
    description:
      'Leaves out so many at the start, with `last` or `before` at the end, for callers that page by position.',
  })

/** The argument `search` of a list. `fields` names the fields that are searched. */
export const searchArg = (t: Arguments, fields: string) =>
  t.arg.string({ description: `Only items with all of these words in ${fields}. Case does not matter.` })

/** Nothing to leave out is not asked for: such a list is read in a shorter way. */
export const withOffset = <Query extends { skip?: number | undefined }>(
  query: Query,
  offset: number | null | undefined,
) => ({
  ...query,
  skip: (query.skip ?? 0) + (offset ?? 0) || undefined,
})
