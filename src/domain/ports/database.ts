/** The database, as rules see it. */

import type { PrismaClient } from '../../platform/prisma/client.ts'
import type { Reader } from '../read-position.ts'
import type { Query } from '../sql.ts'

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

/** Reads from replicas, which are a little behind (decision 44). Where there are none, everything is read from the primary. */
export interface ReplicaReads {
  /**
   * During `work`, which shows something and decides nothing, what may be a little behind is read from a replica that shows all that this
   * reader must see. What `work` does not wait for must not read.
   */
  lagging<T>(reader: Reader, work: () => Promise<T>): Promise<T>
  /** During `work` everything is read as it is now. */
  upToDate<T>(work: () => Promise<T>): Promise<T>
  /**
   * Has all that was written until now shown to these users from now on, in all processes; tells the position that shows it to anybody.
   * Undefined where there are no replicas. Raises nothing.
   */
  noteWrites(users: readonly string[]): Promise<string | undefined>
}

/** The database, as services use it. */
export interface Database {
  /** Reads in Prisma's language. */
  readonly read: ReadClient
  /** As `read`, but `findMany` with `take` returns fewer rows when their texts are long, and at least one row. */
  readonly readCut: ReadClient
  /** One round trip. A single statement is a transaction of its own, READ COMMITTED. Raises UNAVAILABLE when the database is down. */
  readonly query: Query
  readonly replicas: ReplicaReads
  /** Several statements in one transaction. Nothing but SQL belongs inside `work`. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** The constraint or unique index that refused a statement, or undefined when the error is another one. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined
