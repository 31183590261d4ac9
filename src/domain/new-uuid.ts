import { v7 } from 'uuid'

/**
 * A new UUID, sortable by time (version 7). Those of one process sort as they were made, also within a millisecond:
 * statements and lists go by them, and a caller who pays twice in a row reads the two in that order.
 */
export const newUuid = (): string => v7()
