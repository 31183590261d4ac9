/** @helia/verified-fetch reads public assets from the gateway and from nowhere else, block by block, and checks each. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { npmEnvironment } from '../../support/npm-environment.ts'
import { createTestApp } from '../../support/test-app.ts'
import { type Published, publish, sha256Of } from './fixture.ts'
import { startRouter } from './router.ts'

const FOLDER = join(import.meta.dirname, 'helia')
const env = { ...npmEnvironment, NODE_DISABLE_COMPILE_CACHE: '1' }

const carryOut = promisify(execFile)

await carryOut('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: FOLDER, env })
const app = await createTestApp({ withChain: true })
const router = await startRouter(`/ip4/127.0.0.1/tcp/${new URL(app.url).port}/http`)
let published: Published

beforeAll(async () => {
  published = await publish(app)
})

type Wanted = { cid: string; range?: string }
type Found = { status?: number; sha256?: string; bytes?: number; error?: string }

const read = async (...wanted: Wanted[]): Promise<Found[]> => {
  const args = [join(FOLDER, 'read.js'), router, JSON.stringify(wanted)]
  const { stdout } = await carryOut(process.execPath, args, { cwd: FOLDER, env, timeout: 580_000 })
  return JSON.parse(stdout)
}

it('Helia reads a file of one block, a file of many blocks, and a tree', async () => {
  const { small, large, tree } = published
  const files = [small, large, tree]
  expect(await read(...files.map(({ cid }) => ({ cid })))).toEqual(
    files.map(({ bytes }) => ({ status: 200, sha256: sha256Of(bytes), bytes: bytes.length })),
  )
})

it('Helia reads byte ranges of a file', async () => {
  const { small, large } = published
  const cases = [
    { file: small, range: 'bytes=2-6', part: small.bytes.subarray(2, 7) },
    { file: large, range: 'bytes=0-9', part: large.bytes.subarray(0, 10) },
    { file: large, range: 'bytes=262100-786500', part: large.bytes.subarray(262_100, 786_501) },
    { file: large, range: 'bytes=-1000', part: large.bytes.subarray(-1_000) },
  ]
  expect(await read(...cases.map(({ file, range }) => ({ cid: file.cid, range })))).toEqual(
    cases.map(({ part }) => ({ status: 206, sha256: sha256Of(part), bytes: part.length })),
  )
})

it('Helia does not find private files', async () => {
  const [found] = await read({ cid: published.hidden })
  expect(found!.bytes === undefined || found!.status! >= 400, JSON.stringify(found)).toBe(true)
})
