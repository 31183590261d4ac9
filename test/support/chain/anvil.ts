import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { createRpc } from '../../../src/chain/rpc.ts'

const require = createRequire(import.meta.url)

export const relayKeys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
]

const findBinary = () => {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  return require.resolve(`@foundry-rs/anvil-${platform}/bin/anvil`)
}

export const startChain = async (options: { port?: number; args?: string[] } = {}) => {
  const args = ['--host', '127.0.0.1', '--port', String(options.port ?? 0), ...(options.args ?? [])]
  const child = spawn(findBinary(), args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    ended.then(() => reject(new Error('anvil ended before it listened')))
    child.once('error', reject)
    createInterface(child.stdout).on('line', (line) => {
      const address = /Listening on (\S+)/.exec(line)?.[1]
      if (address) resolve(`http://${address}`)
    })
  })
  return {
    url,
    rpc: createRpc({ url }),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export type TestChain = Awaited<ReturnType<typeof startChain>>
