/** What each asker may have under way at once, so that nobody's many wishes stand before everybody's few. */

import type { Shares } from '../domain/ports/gate.ts'
import { removeItem } from './remove-item.ts'

/** How much one asker has under way, and what waits. */
export interface ShareOptions {
  /** How much one asker has under way at most. One wish that is larger is carried out alone. */
  most: number
  /** How many wishes of one asker may wait. */
  waiting: number
  /** Milliseconds that one waits at most. */
  patience: number
  /** What is raised to those who are too many or wait too long. */
  refuse(): Error
}

interface Waiter {
  size: number
  go(): void
}

interface Share {
  held: number
  /** In the order in which they came: a large wish is not overtaken by small ones. */
  line: Waiter[]
}

/** Each asker waits in a line of their own: it gets on as what they have under way ends, whatever others do. */
export function createShares({ most, waiting, patience, refuse }: ShareOptions): Shares {
  const shares = new Map<string, Share>()
  const hasRoom = ({ held }: Share, size: number) => held === 0 || held + size <= most

  const mayGo = (share: Share, size: number) => share.line.length === 0 && hasRoom(share, size)

  const turn = (share: Share, size: number) =>
    new Promise<void>((resolve, reject) => {
      if (share.line.length >= waiting) return reject(refuse())
      const timer = setTimeout(() => {
        removeItem(share.line, waiter)
        reject(refuse())
        goOn(share)
      }, patience)
      const waiter: Waiter = {
        size,
        go() {
          clearTimeout(timer)
          removeItem(share.line, waiter)
          share.held += size
          resolve()
        },
      }
      share.line.push(waiter)
    })

  /** Lets in who has room now. */
  function goOn(share: Share) {
    for (let [next] = share.line; next && hasRoom(share, next.size); [next] = share.line) next.go()
  }

  function giveBack(key: string, share: Share, size: number) {
    share.held -= size
    goOn(share)
    if (share.held === 0) shares.delete(key)
  }

  return {
    hasRoom(key, size) {
      const share = key === undefined ? undefined : shares.get(key)
      return !share || mayGo(share, size)
    },
    async take(key, size, work) {
      if (key === undefined) return work()
      let share = shares.get(key)
      if (!share) {
        share = { held: 0, line: [] }
        shares.set(key, share)
      }
      if (mayGo(share, size)) share.held += size
      else await turn(share, size)
      try {
        return await work()
      } finally {
        giveBack(key, share, size)
      }
    },
  }
}
