/** Simulates another process of the same installation in this process, with its own connections, services and port. */
import { createApp, loadModules } from '../../src/app.ts'
import { createRoutes } from '../../src/http/create-routes.ts'
import { createHttpServer } from '../../src/http/http-server.ts'
import { openInfrastructure } from '../../src/infrastructure.ts'
import type { TestApp } from './test-app.ts'

const DRAIN_MILLISECONDS = 600_000

export async function startAnother({ installation: { config }, chain, log }: TestApp) {
  const server = createHttpServer({ log })
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
  const installation = await openInfrastructure(config, log, { isService: false })
  const app = createApp({
    ...installation,
    relay: chain.relay,
    coins: chain.coins,
    publicUrl: url,
    modules: await loadModules(),
  })
  const { addRoutes } = await createRoutes(app, { ...installation, missing: async () => [] })
  await server.serve(addRoutes)
  return {
    url,
    async stop() {
      await server.drain(DRAIN_MILLISECONDS)
      await installation.close()
    },
  }
}

export type AnotherApp = Awaited<ReturnType<typeof startAnother>>
