/** Runs a gateway in its own process, for the installation in its environment. Prints its URL and runs until it is killed. */
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { presentError } from '../../src/http/error-status.ts'
import { createHttpServer } from '../../src/http/http-server.ts'
import { openInfrastructure } from '../../src/infrastructure.ts'
import { openChain } from '../../src/open-chain.ts'
import { createLog } from '../../src/telemetry/log.ts'

const config = readConfig()
const log = createLog('error')
const server = createHttpServer({ presentError, log })
const publicUrl = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
const installation = await openInfrastructure(config, log, { isService: false })
const chain = await openChain(installation, publicUrl)
const parts = { relay: chain.relay, coins: chain.coins, publicUrl, missing: async () => [] }
await server.serve(createApp({ ...installation, ...parts }).addRoutes)
process.stdout.write(`${publicUrl}\n`)
