/** Two gateways with a faulty proxy to the database, and callers under load. */
import { createGateway, type Gateway } from './gateway.ts'
import { type Parts, startParts } from './parts.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import type { ProofContext } from './proof.ts'
import { startWork, type Work } from './work.ts'

export interface DatabaseScene extends Work {
  parts: Parts
  proxy: PostgresProxy
  gateways: Gateway[]
}

export async function openDatabaseScene(context: ProofContext): Promise<DatabaseScene> {
  const parts = await startParts(context)
  const proxy = await startPostgresProxy(context, parts.databaseUrl)
  const names = ['gateway-0', 'gateway-1']
  const gateways: Gateway[] = []
  for (const name of names) {
    gateways.push(await createGateway(context, name, { ...parts.env, DATABASE_URL: proxy.urlFor(name) }))
  }
  // Start one after the other, because the first gateway writes data that both need.
  for (const gateway of gateways) await gateway.start()
  return { parts, proxy, gateways, ...(await startWork(context, parts, gateways)) }
}
