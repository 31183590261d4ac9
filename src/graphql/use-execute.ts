import {
  createSourceEventStream,
  type ExecutionArgs,
  mapSourceToResponseEvent,
  subscribe as subscribeToFirstField,
  validateSubscriptionArgs,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { withoutSubscriptionTypename } from './document-parts.ts'
import type { createExecutor } from './execute.ts'

/** Subscribes to the one field at the root besides `__typename`. */
async function subscribe(args: ExecutionArgs) {
  const document = withoutSubscriptionTypename(args.document, args.schema.getSubscriptionType()?.name)
  const [whole, source] = [validateSubscriptionArgs(args), validateSubscriptionArgs({ ...args, document })]
  // Invalid variables: graphql-js reports them.
  if (!('schema' in whole && 'schema' in source)) return subscribeToFirstField(args)
  const events = await createSourceEventStream(source)
  return isAsyncIterable(events) ? mapSourceToResponseEvent(whole, events) : events
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
