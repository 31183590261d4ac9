import { builder } from './builder.ts'

const ListOrder = builder.enumType('ListOrder', {
  description: 'The time by which a list is sorted.',
  values: {
    CREATED_AT: { description: 'The time of creation.' },
    UPDATED_AT: { description: 'The time of the last update.' },
  } as const,
})

type Arguments = Pick<PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, unknown>, 'arg'>

/** The argument `orderBy` of a list. */
export const orderByArg = (t: Arguments) =>
  t.arg({ type: ListOrder, description: 'The time by which the list is sorted. It does not change the direction.' })
