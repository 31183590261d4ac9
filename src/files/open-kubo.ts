import type { ContentStore } from '../domain/ports/files.ts'
import type { Log } from '../domain/ports/log.ts'
import { createKuboContentStore } from './kubo-store.ts'
import { createReplicatedContentStore } from './replicated-store.ts'

/** Host and port, by which operators know a node: an address may hold a password. */
export const nodeName = (url: string): string => new URL(url).host

/** The content store in one Kubo node, or in several that keep the same files. */
export const openKubo = (
  { urls, copies }: { urls: readonly string[]; copies: number },
  log: Pick<Log, 'info' | 'warn'>,
): ContentStore => {
  const nodes = urls.map((url) => ({ name: nodeName(url), store: createKuboContentStore({ url }) }))
  return nodes.length === 1 ? nodes[0]!.store : createReplicatedContentStore({ nodes, copies, log })
}
