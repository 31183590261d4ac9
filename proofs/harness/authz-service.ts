/**
 * The service as `main.ts` creates it, in this process and without background jobs. So every database change is caused by a request. The
 * control also needs access to the service object.
 */
import { type App, createApp, loadModules, type OpenChain, openChain } from '../../src/app.ts'
import { noCoins } from '../../src/chain/create-chain.ts'
import { readConfig } from '../../src/config.ts'
import { createRoutes } from '../../src/http/create-routes.ts'
import { createHttpServer } from '../../src/http/http-server.ts'
import { type Infrastructure, openInfrastructure } from '../../src/infrastructure.ts'
import { type Parts, silent } from './parts.ts'
import type { ProofContext } from './proof.ts'

export interface Service {
  url: string
  /** URL of the same service without fast paths. It executes resolvers that were replaced after an operation was compiled. */
  plainUrl: string
  app: App
  installation: Infrastructure
  /** Chain connection whose relay does not run. */
  chain: OpenChain
  /** Maximum number of bytes that one user can upload concurrently. */
  uploadRoom: number
}

export async function startService({ afterwards }: ProofContext, parts: Parts): Promise<Service> {
  const installation = await openInfrastructure(
    readConfig({ ...parts.env, LIMITS: `${parts.env.LIMITS},upload-megabytes=1` }),
    silent,
    { isService: true },
  )
  afterwards(() => installation.close())
  const [server, plain] = [1, 2].map(() => createHttpServer({ log: silent }))
  const [url, plainUrl] = await Promise.all(
    [server!, plain!].map(async (each) => {
      const port = await each.listen(0, '127.0.0.1')
      afterwards(() => each.drain(1_000))
      return `http://127.0.0.1:${port}`
    }),
  )
  const modules = await loadModules()
  const chain = await openChain(installation, url!, modules)
  afterwards(() => chain.close())
  const app = createApp({
    ...installation,
    relay: { wake() {} },
    histories: chain.histories,
    // Returns a fixed fee instead of calling the chain.
    coins: { ...noCoins, quote: async (address) => ({ address, fee: '0.001', gasLimit: 21_000 }) },
    publicUrl: url!,
    modules,
  })
  await app.prepare()
  const options = { ...installation, missing: async () => [] }
  await server!.serve((await createRoutes(app, options)).addRoutes)
  await plain!.serve((await createRoutes(app, { ...options, fastPaths: false })).addRoutes)
  return { url: url!, plainUrl: plainUrl!, app, installation, chain, uploadRoom: 1_000_000 }
}
