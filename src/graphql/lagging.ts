/**
 * Which operations may be answered from a replica, which is a little behind (decision 44): queries whose fields at the root all only show
 * something. And what is noted when somebody has written.
 */
import { type DocumentNode, type OperationDefinitionNode, OperationTypeNode } from 'graphql'
import type { Context } from '../context.ts'
import { readerOf } from '../domain/read-position.ts'
import { rootNames } from './stale-token.ts'

/** Fields at the root that show something and decide nothing. What of it must be as it is now the models and statements below say. */
const showing: ReadonlySet<string> = new Set(['asset', 'assets', 'lookup', 'me', 'mergedAssetTree', 'node'])

/** Whether an operation only shows what may be a little behind. */
export const mayLag = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
  operation.operation === OperationTypeNode.QUERY &&
  [...rootNames(document, operation)].every((name) => showing.has(name))

/** Carries out what only shows something. */
export const lagging = <T>({ actor, database, readAfter }: Context, work: () => Promise<T>): Promise<T> =>
  database.replicas.lagging(readerOf(actor, readAfter), work)

/** Carries out what writes; then whoever wrote is shown it wherever they ask, and is told where to ask for it. */
export async function writing<T>({ actor, database, tellPosition }: Context, work: () => Promise<T>): Promise<T> {
  const answer = await work()
  const position = await database.replicas.noteWrites(actor.kind === 'user' ? [actor.id] : [])
  if (position !== undefined) tellPosition?.(position)
  return answer
}
