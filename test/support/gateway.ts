/** Runs a gateway in its own process, for the installation in its environment. The argument is a JSON array of optional modules. Prints its URL. */
import { createApp, loadModules, openChain } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createRoutes } from '../../src/http/create-routes.ts'
import { createHttpServer } from '../../src/http/http-server.ts'
import { openInfrastructure } from '../../src/infrastructure.ts'
import { createLog } from '../../src/telemetry/log.ts'

const config = readConfig()
const log = createLog('error')
const server = createHttpServer({ log })
const publicUrl = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
const installation = await openInfrastructure(config, log, { isService: false })
const [, , names] = process.argv
const modules = await loadModules(names === undefined ? undefined : JSON.parse(names))
const chain = await openChain(installation, publicUrl, modules)
const app = createApp({ ...installation, ...{ modules, publicUrl }, relay: chain.relay, coins: chain.coins })
await server.serve((await createRoutes(app, { ...installation, missing: async () => [] })).addRoutes)
process.stdout.write(`${publicUrl}\n`)
