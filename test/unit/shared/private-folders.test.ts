import { chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openInfrastructure } from '../../../src/infrastructure.ts'
import { annalHere } from '../../support/annal-command.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const { config, log } = app.installation
const isRoot = process.getuid?.() === 0
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

const open = async (dir: string) => {
  await app.sql(`delete from key_values where key = 'vault'`)
  await (await openInfrastructure({ ...config, dir }, log, { isService: true })).close()
}

const scratch = await createTemporaryFolder()
const SOMEBODY = 54_321
const doctorOf = async (dir: string) =>
  JSON.parse((await annalHere({ ANNAL_DIR: dir }, ['doctor', '--only', 'database', '--json'])).stdout)

const chownAll = async (dir: string) => {
  for (const name of ['', ...(await readdir(dir, { recursive: true }))])
    await chown(join(dir, name), SOMEBODY, SOMEBODY)
}

const folders = ['keys', 'uploads', 'blocks', 'chain', 'mail']
const modes = async (dir: string) => Promise.all(folders.map((name) => modeOf(join(dir, name))))

describe('data folder', () => {
  it('the data folder is private from the first start', async () => {
    const dir = join(scratch, 'fresh')
    await open(dir)
    expect(await modes(dir)).toEqual(folders.map(() => '700'))
  })

  it('makes an existing data folder private, including its secret files', async () => {
    const dir = join(scratch, 'old')
    for (const name of [...folders, 'postgres']) {
      await mkdir(join(dir, name), { recursive: true })
      await chmod(join(dir, name), 0o755)
    }
    await chmod(dir, 0o755)
    const secrets = ['keys/postgres.json', 'mail/1.eml', 'postgres.log']
    for (const file of secrets) await writeFile(join(dir, file), 'secret', { mode: 0o644 })
    await open(dir)

    expect(await modes(dir)).toEqual(folders.map(() => '700'))
    expect(await modeOf(join(dir, 'postgres'))).toBe('700')
    // If root runs the service, PostgreSQL's user can traverse the folder, but not list it.
    expect(await modeOf(dir)).toBe(isRoot ? '711' : '700')
    expect(await Promise.all(secrets.map((file) => modeOf(join(dir, file))))).toEqual(secrets.map(() => '600'))
  })

  it('leaves a data folder inside a shared folder unchanged', async () => {
    const dir = join(scratch, 'shared')
    await mkdir(dir)
    await chmod(dir, 0o1777)
    await open(dir)
    expect(((await stat(dir)).mode & 0o7777).toString(8)).toBe('1777')
    expect(await modes(dir)).toEqual(folders.map(() => '700'))
  })

  it.runIf(process.platform === 'linux')('reports in one sentence why the data folder cannot be created', async () => {
    const file = join(scratch, 'a-file')
    await writeFile(file, '')
    const places = {
      '/proc/annal': 'ENOENT',
      '/proc/annal/deeper': 'ENOENT',
      [file]: 'EEXIST',
      [`${file}/in`]: 'ENOTDIR',
    }
    for (const [ANNAL_DIR, code] of Object.entries(places)) {
      const said = [
        await annalHere({ ...app.env, ANNAL_DIR }, ['users', 'find', 'ada']),
        await annalHere({ ANNAL_DIR }, ['jobs']),
      ]
      const stderr = expect.stringMatching(
        new RegExp(`^ANNAL_DIR cannot be used \\(\\S+: .* \\(${code}\\)\\)\\. Set it `),
      )
      expect(said, ANNAL_DIR).toMatchObject([
        { code: 1, stdout: '', stderr },
        { code: 1, stdout: '', stderr },
      ])
    }
  })

  it.runIf(isRoot)('the data folder keeps its owner when root runs commands', async () => {
    const dir = join(scratch, 'of-another')
    await open(dir)
    await (await app.newUser()).register({})
    await chownAll(dir)
    const root = (...args: string[]) => annalHere({ ...app.env, ANNAL_DIR: dir }, args)
    const password = join(scratch, 'password')
    await writeFile(password, 'correct horse battery')
    const admin = ['--username', 'theroot', '--email', 'theroot@example.org', '--password-file', password]
    expect(await root('admin', 'create', ...admin)).toMatchObject({ code: 0 })
    await root('keys', 'rotate')
    const names = await readdir(dir, { recursive: true })
    const made = ['keys/counterparts/', 'keys/ring/'].filter((each) => names.some((name) => name.startsWith(each)))
    expect(made).toHaveLength(2)
    const owners = await Promise.all(names.map(async (name) => [name, (await stat(join(dir, name))).uid]))
    expect(owners.filter(([, uid]) => uid !== SOMEBODY)).toEqual([])
  })

  it.runIf(isRoot)('root does not use the data folder if another user runs the embedded parts', async () => {
    const dir = join(scratch, 'embedded')
    await mkdir(join(dir, 'keys'), { recursive: true })
    await mkdir(join(dir, 'postgres'))
    await chownAll(dir)
    for (const args of [['check'], ['jobs'], ['migrate']]) {
      const said = await annalHere({ ANNAL_DIR: dir }, args)
      const stderr = `The embedded servers in ${dir} belong to user ${SOMEBODY}, not to root. Run the command as that user (sudo -u '#${SOMEBODY}'), or stop Annal and give the folder to root: chown -R root ${dir}\n`
      expect(said, args[0]).toEqual({ code: 1, stdout: '', stderr })
    }
    const [looked] = await doctorOf(dir)
    expect(looked).toMatchObject({ state: 'error', finding: expect.stringContaining('not to root') })
    // Root may inspect a backup in a folder that it created.
    await chown(dir, 0, 0)
    expect((await annalHere({ ANNAL_DIR: dir }, ['migrate', 'status'])).stderr).not.toContain('belong to user')
  })
})
