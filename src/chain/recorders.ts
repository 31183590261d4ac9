/** Accounts whose commits are this installation's: those that are configured or named, and those that ever carried one. */
import { getAddress } from 'ethers'
import type { Query } from '../db/sql.ts'
import { findAllLanes } from './relay/relay.sql.ts'

/** An address as the events of the chain are told, however somebody wrote it down. */
const asTold = (address: string) => getAddress(address.toLowerCase())

/** Their addresses. `named`: what the configuration knows of them. */
export async function findRecorders(
  { query }: { query: Query },
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  const carried = (await query(findAllLanes)).map(({ lane }) => lane)
  return new Set([...named.map(asTold), ...carried])
}
