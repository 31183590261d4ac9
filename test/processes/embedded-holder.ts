/** A service process that owns an embedded part until it is stopped or killed. It prints the URL of the part. */
import { startEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import { silent } from './embedded-holders.ts'

const [part, dir = ''] = process.argv.slice(2)

const start = async () => {
  if (part === 'postgres') return await startEmbeddedPostgres({ dir, log: silent, isService: true })
  const anvil = await startEmbeddedAnvil({ dir, log: silent, blockTime: 50, isService: true })
  return { ...anvil, url: anvil.rpcUrl }
}

const { url, stop } = await start()
process.stdin.resume().once('end', () => stop())
process.stdout.write(`${JSON.stringify({ url })}\n`)
