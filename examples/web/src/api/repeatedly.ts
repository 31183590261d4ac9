import { useEffect } from 'react'

const EVERY_MS = 3_000

/** Asks again and again while somebody looks: no subscription tells of blocks. */
export function useRepeatedly(execute: (options: { requestPolicy: 'network-only' }) => void) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') execute({ requestPolicy: 'network-only' })
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [execute])
}
