/** A process that starts an embedded part, says where it is, and holds it until it is told to end, or is killed. */
import { startEmbeddedAnvil } from '../../src/platform/embedded/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts'
import { silent } from './embedded-holders.ts'

const [part, dir = ''] = process.argv.slice(2)

const start = async () => {
  if (part === 'postgres') return await startEmbeddedPostgres({ dir, log: silent })
  const anvil = await startEmbeddedAnvil({ dir, log: silent, blockTime: 50 })
  return { ...anvil, url: anvil.rpcUrl }
}

const { url, joined, stop } = await start()
process.stdin.resume().once('end', () => stop())
process.stdout.write(`${JSON.stringify({ url, joined })}\n`)
