/** Paging by position, as callers of the REST door do. */
import type { builder } from './builder.ts'

type Arguments = Pick<PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, unknown>, 'arg'>

/** The argument `offset` of a list. */
export const offsetArg = (t: Arguments) =>
  t.arg.int({
    description:
      'Leaves out so many at the start, with `last` or `before` at the end, for callers that page by position.',
  })

/** Nothing to leave out is not asked for: such a list is read in a shorter way. */
export const withOffset = <Query extends { skip?: number | undefined }>(
  query: Query,
  offset: number | null | undefined,
) => ({
  ...query,
  skip: (query.skip ?? 0) + (offset ?? 0) || undefined,
})
