/** What came in over the chain, for the owner of a wallet; and what an operator does about what the chain has lost. Contract: `deposits`, `GET /api/v3/wallet/deposits/`. */

import type { Database } from '../../db/database-types.ts'
import type { Deposit, Prisma } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { findHead } from './deposits.sql.ts'
import { collectShortfall, findFrozenDeposits, writeShortfallOff } from './freeze-deposits.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type DepositQuery = Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>

/** Which deposits are wanted. */
export interface DepositFilter {
  status?: Deposit['status'] | undefined
  search?: Search
}

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
}

/** Milliseconds for which one look at the chain's height is good: for all deposits of a page. */
const HEAD_GOOD_FOR = 500

/** Deposits, for those whose wallets they came to, and for the operator. */
export function createDepositService({ database, notifications }: Dependencies) {
  let head: { at: number; number: Promise<number | null> } | undefined

  const readHead = () => {
    if (!head || performance.now() - head.at > HEAD_GOOD_FOR) {
      const number = database.query(findHead).then(([row]) => row?.head ?? null)
      // Asked again rather than remembered.
      number.catch(() => {
        head = undefined
      })
      head = { at: performance.now(), number }
    }
    return head.number
  }

  const whereOf = (actor: Actor, { status, search }: DepositFilter): Prisma.DepositWhereInput => {
    assertUserMay(actor, 'transfer:read')
    const found = searched(search, (word) => [{ transactionHash: word }])
    return { walletId: actor.id, ...(status && { status }), ...found }
  }

  /** Refuses to settle a deposit, by its UUID, for which there is nothing to settle. Raises NOT_FOUND, CONFLICT with this message. */
  async function refuseToSettle(uuid: string, message: string): Promise<never> {
    const isKnown = await database.read.deposit.count({ where: { id: uuid } })
    throw isKnown ? new DomainError('CONFLICT', message) : notFound('Deposit')
  }

  return {
    /** A deposit by its UUID, if it came to the actor's own wallet; else null. */
    async find(actor: Actor, uuid: string) {
      if (actor.kind !== 'user') return null
      return database.read.deposit.findFirst({ where: { id: uuid, walletId: actor.id } })
    },

    /** The actor's own deposits, newest first. Raises NOT_AUTHENTICATED. */
    async list(actor: Actor, filter: DepositFilter, query: DepositQuery): Promise<Deposit[]> {
      return database.read.deposit.findMany({ ...query, orderBy: { id: 'desc' }, where: whereOf(actor, filter) })
    },

    /** How many `list` would give in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor, filter: DepositFilter): Promise<number> {
      return database.read.deposit.count({ where: whereOf(actor, filter) })
    },

    /** How many blocks lie on top of a deposit's block; null when the chain does not have it, or was not looked at yet. */
    async confirmations(blockNumber: number | null): Promise<number | null> {
      if (blockNumber === null) return null
      const newest = await readHead()
      return newest === null ? null : Math.max(newest - blockNumber, 0)
    },

    /** Deposits that the chain has lost after they were credited, the newest first. Raises PERMISSION_DENIED. */
    async listFrozen(actor: Actor, limit: number) {
      assertMay(actor, 'store:administer')
      return database.query(findFrozenDeposits, { limit })
    },

    /**
     * Takes from the wallet what it owes for a frozen deposit (`deposit_…`), as far as it has it. Returns how much that was, a decimal
     * string. Raises PERMISSION_DENIED, NOT_FOUND, CONFLICT when nothing is owed or nothing is there to take.
     */
    async collect(actor: Actor, id: string): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'deposit', 'Deposit')
      const [row] = await database.query(collectShortfall, { deposit: uuid })
      if (!row)
        return refuseToSettle(uuid, 'Nothing can be collected: the wallet owes nothing for this deposit, or is empty.')
      notifications.notify(row.owner)
      return row.taken
    },

    /**
     * Has the platform bear what a wallet owes for a frozen deposit (`deposit_…`). Returns how much that is, a decimal string. Raises
     * PERMISSION_DENIED, NOT_FOUND, CONFLICT when nothing is owed.
     */
    async writeOff(actor: Actor, id: string): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'deposit', 'Deposit')
      const [row] = await database.query(writeShortfallOff, { deposit: uuid })
      return row ? row.borne : refuseToSettle(uuid, 'The wallet owes nothing for this deposit.')
    },
  }
}
