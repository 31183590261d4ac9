/** What a process is there for. An installation needs each of them somewhere; one process may have several, and several processes the same. */

/** `http`: requests. `relay`: the chain. `deliveries`: webhooks and mails. `jobs`: all other work in the background. */
export const roles = ['http', 'relay', 'jobs', 'deliveries'] as const

/** One of them. */
export type Role = (typeof roles)[number]
