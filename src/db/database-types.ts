import type { PrismaClient } from './prisma/client.ts'
import type { Query } from './sql.ts'

/** Prisma's read methods for the models that resolvers load. An implementation may be faster than Prisma but must return the same results. */
type ReadMethods = 'findFirst' | 'findMany' | 'findUnique' | 'findUniqueOrThrow' | 'count'

type ReadModels =
  | 'user'
  | 'wallet'
  | 'asset'
  | 'commit'
  | 'auditEntry'
  | 'apiKey'
  | 'transfer'
  | 'networkApp'
  | 'order'
  | 'event'
  | 'deposit'
  | 'withdrawal'
  | 'refund'
  | 'webhookDelivery'
  | 'webhookAttempt'

/** Read access to the models that resolvers load. */
export type ReadClient = { [Model in ReadModels]: Pick<PrismaClient[Model], ReadMethods> }

/** Database access for services. */
export interface Database {
  /** Executes reads with Prisma's arguments. */
  readonly read: ReadClient
  /** Like `read`, but `findMany` with `take` returns fewer rows if their texts are long. Returns at least one row. */
  readonly readCut: ReadClient
  /**
   * Executes one statement in one round trip. A single statement is its own READ COMMITTED transaction. Throws UNAVAILABLE when the database is down.
   */
  readonly query: Query
  /** Executes several statements in one transaction. Do nothing but SQL inside `work`: it holds a connection and locks. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** Returns the name of the violated constraint or unique index, or undefined for other errors. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined
