import { useEffect } from 'react'
import { type AnyVariables, type GraphQLRequest, useClient } from 'urql'

const REOPEN_AFTER_MS = 3_000

/**
 * Follows a subscription for as long as the component is shown, and opens it again when it ends. What it tells is in the cache,
 * and so on the screen. A stream has no memory: `reread` is called whenever one has opened, for what happened before.
 * Give a request that stays the same (`useMemo`), or null to follow nothing.
 */
export function useLive<Data, Variables extends AnyVariables>(
  request: GraphQLRequest<Data, Variables> | null,
  reread: () => void,
) {
  const client = useClient()
  useEffect(() => {
    if (!request) return
    let close = () => {}
    let timer: number | undefined
    const fetchAndReread: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      reread()
      return response
    }
    const open = () => {
      const stream = client.executeSubscription(request, { fetch: fetchAndReread })
      close = stream.subscribe(({ hasNext, error }) => {
        if (!hasNext || error) timer = window.setTimeout(open, REOPEN_AFTER_MS)
      }).unsubscribe
    }
    open()
    return () => {
      window.clearTimeout(timer)
      close()
    }
  }, [client, request, reread])
}
