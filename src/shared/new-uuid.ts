import { v7 } from 'uuid'

/**
 * A new UUID, for what must have a name before the database writes it: keys and secrets are made and sealed under it. It tells
 * the time of this process (version 7: such rows lie together in an index), so nothing is ever ordered by it.
 */
export const newUuid = (): string => v7()
