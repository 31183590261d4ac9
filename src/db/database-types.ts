import type { Prisma, PrismaClient } from './prisma/client.ts'
import type { Query } from './sql.ts'

/** Prisma's read methods that resolvers use. A faster implementation must return the same results as Prisma. */
type ReadMethods = 'findFirst' | 'findMany' | 'findUniqueOrThrow' | 'count'

/** Read access to all models. */
export type ReadClient = { [Model in Uncapitalize<Prisma.ModelName>]: Pick<PrismaClient[Model], ReadMethods> }

/** Database access for services. */
export interface Database {
  /** Executes reads with Prisma's arguments. */
  readonly read: ReadClient
  /** Like `read`, but `findMany` with `take` returns fewer rows if their texts are long. Returns at least one row. */
  readonly readCut: ReadClient
  /**
   * Executes one statement in one round trip. A single statement is its own READ COMMITTED transaction. Throws
   * UNAVAILABLE when the database is down.
   */
  readonly query: Query
  /** Executes several statements in one transaction. `work` may only run SQL, as it holds a connection and locks. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** Returns the name of the violated constraint or unique index, or undefined for other errors. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined
