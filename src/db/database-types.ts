import type { Prisma, PrismaClient } from './prisma/client.ts'
import type { Query, Types } from './sql.ts'

/** Prisma's read methods that resolvers use. A faster implementation must return the same results as Prisma. */
type ReadMethods = 'findFirst' | 'findMany' | 'findUniqueOrThrow' | 'count'

export type ReadClient = { [Model in Uncapitalize<Prisma.ModelName>]: Pick<PrismaClient[Model], ReadMethods> }

export interface Database {
  /** Executes reads with Prisma's arguments. */
  readonly read: ReadClient
  /** Like `read`, but `findMany` with `take` returns fewer rows if their texts are long. Returns at least one row. */
  readonly readCut: ReadClient
  /** Executes one statement as its own READ COMMITTED transaction. Throws UNAVAILABLE when the database is down. */
  readonly query: Query
  /** Executes several statements in one transaction. `work` may only run SQL, as it holds a connection and locks. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** Returns the name of the violated constraint or unique index, or undefined for other errors. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined

/** A condition that must always hold, with a query that finds its violations. */
export interface Invariant {
  id: string
  sentence: string
  /** Columns of a violation. Default: `subject` and `problem`. IDs of the form `<prefix>:<UUID>` become public IDs. */
  columns?: Types
  query: string
}

export interface Finding {
  invariant: Pick<Invariant, 'id' | 'sentence'>
  /** At most `MOST_ROWS` rows. */
  rows: object[]
  /** True if there are more rows than returned. */
  isCut: boolean
  /** True for an informational finding: its rows are not errors. */
  isNote?: boolean
}

/** Returns the finding of a check that is not a single query. */
export const findingOf = <Row extends object>(
  id: string,
  sentence: string,
  rows: Row[],
  isNote = false,
): Finding & { rows: Row[] } => ({
  invariant: { id, sentence },
  rows: rows.slice(0, MOST_ROWS),
  isCut: rows.length > MOST_ROWS,
  isNote,
})

/** Maximum number of rows shown per finding. */
export const MOST_ROWS = 100

/**
 * Parses a PostgreSQL connection URL. `URL` rejects a user without a host. libpq and the driver accept it with a
 * socket folder: `postgresql://annal@/annal?host=/run/postgresql`. Throws TypeError for an invalid URL.
 */
export const parseDatabaseUrl = (url: string): URL => new URL(url.replace('@/', '@localhost/'))
