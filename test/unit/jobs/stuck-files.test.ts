/** Files that cannot be deleted are logged once and listed, and do not block the deletion of other files. */
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { findJobFailures } from '../../../src/jobs/batch-jobs.ts'
import { beforeFiles } from '../../support/before-files.ts'
import { createTestApp } from '../../support/test-app.ts'

const stuck = new Set<string>()
const before = beforeFiles()
before.rm = async (path) => {
  if ([...stuck].some((name) => path.includes(name))) throw new Error('EPERM: for a test')
}
afterAll(before.stop)

const app = await createTestApp()
const { database, config, contentStore } = app.installation
beforeEach(() => stuck.clear())

const job_failures = async (name: string) =>
  (await database.query(findJobFailures, { limit: 100 })).filter(({ job }) => job === name)
const reported = (name: string) => app.log.lines.filter(({ fields }) => 'job' in fields && fields.job === name)
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

async function* bytes(text: string) {
  yield Buffer.from(text)
}

async function makeGarbage(text: string): Promise<string> {
  await contentStore.importFile(bytes(text))
  const folder = join(config.dir, 'blocks')
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  const ages = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })))
  const { path } = ages.sort((a, b) => b.at - a.at)[0]!
  await utimes(path, 1, 1)
  return path
}

it('removes a block that could not be deleted before', async () => {
  const [bad, good] = [await makeGarbage('bad'), await makeGarbage('good')]
  stuck.add(basename(bad))
  await app.maintenance.collectGarbage()
  expect(await isThere(good)).toBe(false)
  expect(await job_failures('collect-garbage')).toMatchObject([{ attempts: 1, last_error: 'EPERM: for a test' }])
  for (let run = 0; run < 3; run += 1) await app.maintenance.collectGarbage()
  // The block exists at its original path and at its moved path, and nowhere else.
  expect((await readdir(dirname(bad))).filter((name) => name.startsWith(basename(bad)))).toHaveLength(2)
  expect(reported('collect-garbage')).toMatchObject([{ level: 'error', fields: { count: 1 } }])

  stuck.clear()
  await app.maintenance.collectGarbage()
  expect([await readdir(dirname(bad)), await job_failures('collect-garbage')]).toEqual([[], []])
})

it('removes an aborted upload that could not be deleted before', async () => {
  const folder = join(config.dir, 'uploads')
  await mkdir(folder, { recursive: true })
  for (const name of ['a-bad-one', 'good']) {
    await writeFile(join(folder, name), 'left behind')
    await utimes(join(folder, name), 1, 1)
  }
  stuck.add('a-bad-one')
  for (let run = 0; run < 2; run += 1) await app.maintenance.run()
  expect(await readdir(folder)).toEqual(['a-bad-one'])
  expect(await job_failures('delete-uploads')).toMatchObject([{ item: 'a-bad-one', attempts: 2 }])
  expect(reported('delete-uploads')).toMatchObject([{ level: 'error', fields: { items: ['a-bad-one'] } }])

  stuck.clear()
  await app.maintenance.run()
  expect([await readdir(folder), await job_failures('delete-uploads')]).toEqual([[], []])
})
