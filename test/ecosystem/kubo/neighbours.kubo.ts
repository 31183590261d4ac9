/** Kubo peers can read stored files, unless the node is closed as docs/how-to/store-files-on-kubo-or-s3.md describes. */
import { afterAll, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { openStoredFiles } from '../gateway/stored-files.ts'
import { startKubo } from './node.ts'

const [kubo, before, after] = await Promise.all([1, 2, 3].map(() => startKubo({ isOpen: true })))
const app = await createTestApp({ withChain: true, env: { IPFS_API_URL: kubo!.url } })
const { user, annal } = await openStoredFiles(app)
afterAll(() => Promise.all([kubo, before, after].map((node) => node!.stop())))

const addressOf = async () => {
  const { ID: id, Addresses: addresses } = JSON.parse(await kubo!.ipfs('id'))
  return addresses.find((address: string) => address.startsWith('/ip4/127.0.0.1/')) ?? `no address of ${id}`
}
const doctor = async () => (await annal('doctor', '--only', 'files')).stdout

it('`annal doctor` reports a Kubo node that serves private files to peers', async () => {
  const file = newFile('private.txt', 'text/plain')
  const { id } = await user.register({ asset_file: file, caption: 'Mine alone', public_access: 'false' })
  const [{ assetTreeCid: tree }] = expectOk(await user.rest('GET', `assets/${id}/history/`)).commits
  expect(await doctor()).not.toContain('gives private files')

  await before!.ipfs('swarm', 'connect', await addressOf())
  expect(await before!.ipfs('cat', '--timeout=60s', id)).toBe(await file.text())
  expect(await before!.ipfs('cat', '--timeout=60s', tree)).toContain('Mine alone')
  expect(await doctor()).toMatch(/wrong +Kubo at .* gives private files to 1 nodes/)

  await kubo!.ipfs('config', '--json', 'Bitswap.ServerEnabled', 'false')
  await kubo!.ipfs('config', '--json', 'Provide.Enabled', 'false')
  await kubo!.ipfs('config', '--json', 'Addresses.Gateway', '[]')
  await kubo!.kill()
  await kubo!.start()
  await after!.ipfs('swarm', 'connect', await addressOf())
  for (const cid of [id, tree]) {
    await expect(after!.ipfs('cat', '--timeout=10s', cid), cid).rejects.toThrow(/deadline exceeded|timeout|timed out/i)
  }
  expect(await doctor()).not.toContain('gives private files')
  // It still is the store of its own installation.
  expect((await user.rest('GET', `/ipfs/${id}`)).text).toBe(await file.text())
})
