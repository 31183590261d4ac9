/** Checks of the transactions that a relay sent: one nonce per commit, and valid replacements. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Transaction } from 'ethers'
import { decodeCommits, registryBytecode } from '../../src/chain/registry/abi.ts'
import { larger } from '../../src/chain/transaction.ts'

interface Sent {
  hash: string
  from: string
  nonce: number
  data: string
  maxFee: bigint
  tip: bigint
}

/** Decodes the transactions in order, without duplicates. Recovering senders is slow, so it yields to other work. */
export async function readSent(raws: readonly string[]): Promise<Sent[]> {
  const sent: Sent[] = []
  for (const raw of new Set(raws)) {
    const { hash, from, nonce, data, maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(raw)
    sent.push({ hash: hash!, from: from!, nonce, data, maxFee: maxFeePerGas ?? 0n, tip: maxPriorityFeePerGas ?? 0n })
    await nextTurn()
  }
  return sent
}

/** Counts empty transactions, which fill nonce gaps. */
export const fillersOf = (sent: readonly Sent[]) => sent.filter(({ data }) => data === '0x').length

/** Returns the commits in a transaction, or the registry that it deploys. */
const carriedBy = ({ data }: Sent): string[] =>
  data === registryBytecode ? [data] : decodeCommits(data).map((commit) => JSON.stringify(commit))

/** Returns a message for each commit that was signed with more than one nonce, because both transactions could be mined. */
export function judgeNonces(sent: readonly Sent[]): string[] {
  const carried = sent
    .filter(({ data }) => data !== '0x')
    .flatMap((each) => carriedBy(each).map((what) => ({ ...each, what })))
  const commits = Map.groupBy(carried, ({ what }) => what)
  const twice = [...commits.values()].filter(
    (all) => new Set(all.map(({ from, nonce }) => `${from} ${nonce}`)).size > 1,
  )
  return twice.length > 0 ? [`${twice.length} commits were signed for more than one nonce.`] : []
}

export interface Replacements {
  /** Number of replacements. */
  count: number
  highest: bigint
  reasons: string[]
}

/** Checks that each replacement carries the same commits, and raises both fees by at least 10 %. */
export function judgeReplacements(sent: readonly Sent[], cap: bigint): Replacements {
  const reasons: string[] = []
  let count = 0
  for (const [place, all] of Map.groupBy(sent, ({ from, nonce }) => `${from} ${nonce}`)) {
    for (const [index, later] of all.slice(1).entries()) {
      const before = all[index]!
      count += 1
      if (later.data !== before.data) reasons.push(`Nonce ${place} was used for two commits.`)
      if (later.maxFee * 10n < before.maxFee * 11n || later.tip * 10n < before.tip * 11n) {
        reasons.push(`At nonce ${place} ${later.maxFee}/${later.tip} wei followed ${before.maxFee}/${before.tip}.`)
      }
    }
  }
  const highest = sent.reduce((most, { maxFee }) => larger(most, maxFee), 0n)
  if (highest > cap) reasons.push(`${highest} wei were offered, ${cap} are allowed.`)
  return { count, highest, reasons }
}
