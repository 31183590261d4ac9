/** The database, as rules see it. */

import type { PrismaClient } from './prisma/client.ts'
import type { Query } from './sql.ts'

/** Prisma's read methods for the models that resolvers load. Implementations may answer faster than Prisma, never differently. */
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

/** What reads the models that resolvers load. */
export type ReadClient = { [Model in ReadModels]: Pick<PrismaClient[Model], ReadMethods> }

/** The database, as services use it. */
export interface Database {
  /** Reads in Prisma's language. */
  readonly read: ReadClient
  /** As `read`, but `findMany` with `take` returns fewer rows when their texts are long, and at least one row. */
  readonly readCut: ReadClient
  /** One round trip. A single statement is a transaction of its own, READ COMMITTED. Raises UNAVAILABLE when the database is down. */
  readonly query: Query
  /** Several statements in one transaction. Nothing but SQL belongs inside `work`. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** The constraint or unique index that refused a statement, or undefined when the error is another one. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined
