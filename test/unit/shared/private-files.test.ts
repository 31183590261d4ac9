/** Files for keys. When a write returns, the file is on disk and readable only by its owner. */
import fs, { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFile, replaceFile } from '../../../src/shared/private-files.ts'

const { open, writeFile } = fs.promises
const dir = mkdtempSync(join(tmpdir(), 'annal-lasting-'))
let calls: string[] = []

beforeAll(() => {
  fs.promises.open = (async (path, ...rest) => {
    const handle = await open(path, ...rest)
    const sync = handle.sync.bind(handle)
    handle.sync = () => {
      calls.push(`sync ${path}`)
      return sync()
    }
    return handle
  }) as typeof open
  fs.promises.writeFile = ((path, data, options) => {
    if (typeof options === 'object' && options?.flush) calls.push('write and flush')
    return writeFile(path, data, options)
  }) as typeof writeFile
  syncBuiltinESMExports()
})

afterAll(() => {
  Object.assign(fs.promises, { open, writeFile })
  syncBuiltinESMExports()
  rmSync(dir, { recursive: true })
})

beforeEach(() => {
  calls = []
})

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('durable files', () => {
  it('syncs a durable file to disk with its name and its new folders', async () => {
    const folder = join(dir, 'made', 'for-it')
    await createFile(join(folder, 'key'), 'secret')
    expect(calls).toEqual([`sync ${join(dir, 'made')}`, `sync ${dir}`, 'write and flush', `sync ${folder}`])
  })

  it('syncs a durable file to disk when the file replaces another', async () => {
    await createFile(join(dir, 'replaced'), 'old')
    calls = []
    await replaceFile(join(dir, 'replaced'), 'new')
    expect(calls).toEqual(['write and flush', `sync ${dir}`])
    expect(readFileSync(join(dir, 'replaced'), 'utf8')).toBe('new')
  })

  it('a durable file and its new folders are readable only by their owner', async () => {
    await createFile(join(dir, 'own', 'key'), 'secret')
    expect([modeOf(join(dir, 'own')), modeOf(join(dir, 'own', 'key'))]).toEqual(['700', '600'])
  })

  it('creating a durable file never overwrites an existing file', async () => {
    await createFile(join(dir, 'first'), 'first')
    expect(await createFile(join(dir, 'first'), 'second')).toBe(false)
    expect(readFileSync(join(dir, 'first'), 'utf8')).toBe('first')
  })
})
