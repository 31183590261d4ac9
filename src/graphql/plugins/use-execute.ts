import {
  createSourceEventStream,
  type ExecutionArgs,
  executeSubscriptionEvent,
  GraphQLError,
  mapSourceToResponseEvent,
  subscribe as subscribeToFirstField,
  validateSubscriptionArgs,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Context } from '../../services-context.ts'
import { DomainError } from '../../shared/errors.ts'
import type { createExecutor } from '../execute.ts'
import { withoutSubscriptionTypename } from '../limits/document-parts.ts'

/**
 * Executes a subscription for one event, and counts it against the caller's quota first. Returns THROTTLED for an event that exceeds the
 * quota. The subscription continues.
 */
const executeEvent: typeof executeSubscriptionEvent = async (event) => {
  const { actor, services } = event.contextValue as Context
  try {
    await services.requestQuota.consume(actor, 1)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { errors: [new GraphQLError(error.message, { originalError: error })] }
  }
  return executeSubscriptionEvent(event)
}

/** Subscribes to the one field at the root besides `__typename`. */
async function subscribe(args: ExecutionArgs) {
  const document = withoutSubscriptionTypename(args.document, args.schema.getSubscriptionType()?.name)
  const [whole, source] = [validateSubscriptionArgs(args), validateSubscriptionArgs({ ...args, document })]
  // Invalid variables: graphql-js reports them.
  if (!('schema' in whole && 'schema' in source)) return subscribeToFirstField(args)
  const events = await createSourceEventStream(source)
  return isAsyncIterable(events) ? mapSourceToResponseEvent(whole, events, executeEvent) : events
}

/** Executes operations as REST does. */
export const useExecute = ({ execute }: Pick<ReturnType<typeof createExecutor>, 'execute'>): Plugin => ({
  onExecute({ setExecuteFn }) {
    setExecuteFn((execution) => execute(execution as Parameters<typeof execute>[0]))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn((execution) => subscribe(execution as ExecutionArgs))
  },
})
