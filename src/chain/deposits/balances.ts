/**
 * Finds what contracts send: it stands in no transaction to the address, so what an address holds at a block is held to what is known to have
 * come and gone. Balances are read some hundreds in one call, and a bounded part of the addresses at each look.
 */
import { AbiCoder } from 'ethers'
import { fromUnits } from '../../domain/money.ts'
import type { DepositBooks, ScanPlace } from '../../domain/ports/deposits.ts'
import type { Log } from '../../domain/ports/log.ts'
import artefact from '../balances.json' with { type: 'json' }
import { readTrail } from '../block-trail.ts'
import { createLogDeduper } from '../log-dedupe.ts'
import type { BlockReply } from '../replies.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../rpc.ts'

/** Addresses of one call: the answer must not be larger than a contract may be. */
const CALL = 500
/** Addresses of one look: ten calls. */
const PAGE = 5_000

const WORD = 64

/** What accounts hold at a block, in their order, in wei. Raises UNAVAILABLE; RpcError when the node does not have the block's state any more. */
export async function readBalancesAt(rpc: Rpc, accounts: readonly string[], blockHash: string): Promise<bigint[]> {
  const parts = Array.from({ length: Math.ceil(accounts.length / CALL) }, (_, index) =>
    accounts.slice(index * CALL, (index + 1) * CALL),
  )
  const outcomes = await rpc.batch(
    parts.map((part) => ({
      method: 'eth_call',
      params: [
        { data: artefact.bytecode + AbiCoder.defaultAbiCoder().encode(['address[]'], [part]).slice(2) },
        { blockHash, requireCanonical: true },
      ],
    })),
  )
  return parts.flatMap((part, index) => {
    const answer = resultOf<string>(outcomes[index]).slice(2)
    if (answer.length !== part.length * WORD) throw new Error('The node does not answer for balances as it should.')
    return part.map((_, place) => BigInt(`0x${answer.slice(place * WORD, (place + 1) * WORD)}`))
  })
}

interface Dependencies {
  rpc: Rpc
  books: Pick<DepositBooks, 'beginBalances' | 'watchedWallets' | 'settleBalances'>
  log: Log
}

/**
 * One page of addresses at each look, at the newest block that counts then; all of them again once that block has moved on. It remembers where
 * it stands, and begins anew in another process: nothing depends on it.
 */
export function createBalanceLook({ rpc, books, log }: Dependencies) {
  const deduper = createLogDeduper()
  let hasBegun = false
  let after: string | null = null
  /** Up to which block all were looked at. */
  let seenTo = -1

  const readPage = async (place: ScanPlace, due: number, accounts: readonly string[]) => {
    const block = await rpc.call<BlockReply | null>('eth_getBlockByNumber', quantity(due), false)
    // Of a chain that has changed since it was read: what is known to have come in is of the blocks that are gone.
    const passed = readTrail(place.position).find(({ number }) => number === due)
    if (!block || (passed && passed.hash !== block.hash)) return
    const balances = await readBalancesAt(rpc, accounts, block.hash)
    const { found, lacking } = await books.settleBalances(
      place,
      { number: due, hash: block.hash },
      accounts.map((address, index) => ({ address, balance: fromUnits(balances[index]!) })),
    )
    if (found > 0) log.info({ deposits: found, block: due }, 'Found deposits sent by contracts')
    if (lacking.length > 0)
      log.error(
        { addresses: lacking.slice(0, 5), count: lacking.length, block: due },
        'Addresses hold fewer coins than were received: another party has a key, or receipts do not show all fees',
      )
  }

  return {
    /** Looks at the next page, where blocks up to `due` were read. Raises UNAVAILABLE; what the node refuses is told in the log once. */
    async look(place: ScanPlace, due: number): Promise<void> {
      if (due < 0 || (after === null && due <= seenTo)) return
      if (!hasBegun) await books.beginBalances(place.chainId)
      hasBegun = true
      const page = await books.watchedWallets(after, PAGE)
      try {
        if (page.length > 0)
          await readPage(
            place,
            due,
            page.map(({ address }) => address),
          )
        const outage = deduper.recovers()
        if (outage) log.info(outage, 'Search for deposits by contracts recovered')
      } catch (error) {
        // A node that keeps few states, or refuses such calls: all other deposits go on.
        if (!(error instanceof RpcError)) throw error
        const problem = { message: 'Search for deposits by contracts failed; retrying', reason: error.message }
        if (deduper.fails(problem)) log.warn({ err: error, reason: problem.reason }, problem.message)
      }
      const isWhole = page.length < PAGE
      after = isWhole ? null : page.at(-1)!.id
      if (isWhole) seenTo = due
    },

    /** The chain has changed: what was seen says nothing of the blocks that it has now. */
    forget() {
      after = null
      seenTo = -1
    },
  }
}
