import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { processRows } from '../../src/cli/import/import-command.ts'
import { createImportServer } from '../../src/cli/import/import-server.ts'
import { examineFiles } from '../../src/cli/import/import-source.ts'
import { InterruptedError } from '../../src/cli/terminal.ts'
import { annalHere, type HereOptions, startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import { listen } from '../support/listen.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const someone = await app.newUser()
const dir = await realpath(await mkdtemp(join(tmpdir(), 'annal-import-')))
afterAll(() => rm(dir, { recursive: true, force: true }))

let folders = 0
async function newFolder(count: number): Promise<string> {
  folders += 1
  const folder = join(dir, `photos-${folders}`)
  await mkdir(folder)
  for (let n = 1; n <= count; n += 1) await writeFile(join(folder, `${n}.jpg`), `photo ${n} of ${folder}`)
  return folder
}

const annal = (user: SignedIn, source: string, args: string[] = [], options?: HereOptions) =>
  annalHere({ ANNAL_TOKEN: user.token }, ['import', source, '--url', app.url, ...args], options)
const importAs = async (user: SignedIn, source: string, ...args: string[]) => {
  const { code, stdout, stderr } = await annal(user, source, ['--json', ...args])
  expect(stdout, stderr).not.toBe('')
  return { code, ...JSON.parse(stdout) }
}
const ownedBy = async ({ id }: SignedIn) =>
  (await app.sql<{ n: number }>('select count(*)::int as n from assets where owner_id = $1::uuid', [id]))[0]!.n
const states = (report: { rows: { state: string }[] }) => report.rows.map(({ state }) => state)

describe('annal import', () => {
  it('`annal import` registers the files of a folder with progress, and only new files the next time', async () => {
    const user = await app.newUser({ points: '0.716' })
    const folder = await newFolder(3)
    await writeFile(join(folder, '.hidden'), 'not this')
    const said = await annal(user, `${folder}/`)
    expect(said).toMatchObject({ code: 0, stdout: '' })
    expect(said.stderr).toMatch(/3 of 3 examined, [\d.]+\/s\n3 of 3 registered, [\d.]+\/s\n/)
    expect(said.stderr).toContain('All files are registered.')
    await writeFile(join(folder, '4.png'), `new in ${folder}`)
    const report = await importAs(user, folder)
    const cost = { each: '0.179', total: '0.179', available: '0.179', missing: '0' }
    expect(report).toMatchObject({ code: 0, account: user.username, stopped: null, cost })
    expect(states(report)).toEqual(['existing', 'existing', 'existing', 'registered'])
    const assets = expectOk(await user.rest('GET', 'assets/')).results
    expect(assets.map(({ id }: { id: string }) => id).sort()).toEqual(
      report.rows.map(({ nid }: { nid: string }) => nid).sort(),
    )
    const types = assets.map((asset: { asset_file_mime_type: string }) => asset.asset_file_mime_type)
    expect(new Set(types)).toEqual(new Set(['image/jpeg', 'image/png']))
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  })

  it('`annal import` reads fields from CSV and JSON Lines, and reports each invalid row', async () => {
    const user = await app.newUser({ num: '10' })
    const folder = await newFolder(4)
    const csv = join(dir, 'rows.csv')
    const name = basename(folder)
    await symlink('/etc/passwd', join(folder, 'link.jpg'))
    const csvRows = [
      '\uFEFFfile,caption,public_access,nit_commit_custom',
      `${name}/1.jpg,"Evening,\n""at sea""",true,"{""license"":""CC""}"`,
      '',
      `${name}/9.jpg,,,`,
      `${name}/2.jpg,${'x'.repeat(4001)},,`,
      '../../etc/passwd,,,',
      `${name}/link.jpg,,,`,
      `${name},,,`,
      `${name}/2.jpg,too few`,
    ]
    await writeFile(csv, csvRows.join('\r\n'))
    const failures = [
      [4, 'not_sent', 'The file does not exist.'],
      [5, 'validation_error', 'caption: Ensure this field has no more than 4000 characters.'],
      [6, 'not_sent', `The file is outside ${dir}.`],
      [7, 'not_sent', `The file is outside ${dir}.`],
      [8, 'not_sent', 'The path is a folder.'],
      [9, 'not_sent', 'The row has 2 cells, but the header has 4.'],
    ].map(([row, code, message]) => ({ row, code, message, state: 'failed' }))
    const dry = await importAs(user, csv, '--dry-run')
    expect(dry).toMatchObject({ code: 1, rows: [{ row: 2, path: `${name}/1.jpg`, state: 'pending' }, ...failures] })
    expect(await ownedBy(user)).toBe(0)
    const report = await importAs(user, csv)
    expect(report).toMatchObject({ code: 1, stopped: null, rows: [{ row: 2, state: 'registered' }, ...failures] })
    const asset = expectOk(await user.rest('GET', `assets/${report.rows[0].nid}/`))
    expect(asset.caption.replace('\r', '')).toBe('Evening,\n"at sea"')
    expect(asset).toMatchObject({ public_access: true, nit_commit_custom: { license: 'CC' } })

    const lines = join(dir, 'rows.jsonl')
    const row = { file: '3.jpg', headline: 'Sunset', nit_commit_custom: { a: 1 }, public_access: false, tag: null }
    await writeFile(lines, `\uFEFF${JSON.stringify(row)}\n\n{"file"\n${JSON.stringify({ file: '1.jpg' })}\n`)
    const again = await importAs(user, lines, '--files', folder)
    expect(again.rows).toMatchObject([
      { row: 1, state: 'registered' },
      { row: 3, state: 'failed', message: 'The line is not a JSON object.' },
      { row: 4, state: 'existing', nid: report.rows[0].nid },
    ])
    const shown = await annal(user, csv)
    expect(shown.stdout).toMatch(/^row +path +code +message\n4 +\S+9\.jpg +not_sent +The file does not exist\.$/m)
    expect(shown.stderr).toContain('7 rows: 1 existing, 6 failed.')
    expect(await ownedBy(user)).toBe(2)
  })

  /** A list with three rows, in the format that office programs write. */
  const listOf = (name: string, separator: string, [file, caption, tag] = ['file', 'caption', 'tag']) =>
    [
      [file, caption, tag],
      [`${name}/1.jpg`, '"One, two; three"', 'x'],
      [`${name}\\2.jpg`, 'Größe', ''],
      [`.\\${name}\\..\\${name}\\3.jpg`, '', 'y'],
    ]
      .map((cells) => cells.join(separator))
      .join('\r\n')

  it.each<[string, string, (name: string) => string]>([
    ['semicolons', 'csv', (name) => listOf(name, ';')],
    ['tabs', 'tsv', (name) => listOf(name, '\t')],
    ['tabs in a .txt', 'txt', (name) => listOf(name, '\t')],
    ['commas', 'CSV', (name) => listOf(name, ',')],
    ['field names with capitals and spaces', 'csv', (name) => listOf(name, ';', [' File', 'CAPTION ', 'Tag'])],
    [
      'a byte order mark before a quoted header',
      'csv',
      (name) => `\uFEFF${listOf(name, ';', ['"FILE"', '"Caption"', '"tag"'])}`,
    ],
  ])('`annal import` reads a list with %s and paths with backslashes', async (kind, extension, contentOf) => {
    const user = await app.newUser({ num: '10' })
    const folder = await newFolder(3)
    const list = join(dir, `${kind.replaceAll(' ', '-')}.${extension}`)
    await writeFile(list, contentOf(basename(folder)))
    const report = await importAs(user, list)
    expect(report.rows).toMatchObject([2, 3, 4].map((row) => ({ row, state: 'registered' })))
    const assets = await Promise.all(
      report.rows.map(async ({ nid }: { nid: string }) => expectOk(await user.rest('GET', `assets/${nid}/`))),
    )
    expect(assets).toMatchObject([
      { asset_file_name: '1.jpg', asset_file_mime_type: 'image/jpeg', caption: 'One, two; three', tag: 'x' },
      { asset_file_name: '2.jpg', asset_file_mime_type: 'image/jpeg', caption: 'Größe', tag: '' },
      { asset_file_name: '3.jpg', asset_file_mime_type: 'image/jpeg', caption: '', tag: 'y' },
    ])
  })

  it('`annal import` reads paths with backslashes, and never outside the folder', async () => {
    const user = await app.newUser({ num: '10' })
    const folder = await newFolder(2)
    await mkdir(join(folder, 'below'))
    await writeFile(join(folder, 'below', '3.jpg'), `below ${folder}`)
    await writeFile(join(folder, 'a\\b.jpg'), `a backslash in a name of ${folder}`)
    const list = join(dir, 'windows-paths.csv')
    const paths = [
      ...['below\\3.jpg', 'a\\b.jpg', '..\\..\\etc\\passwd', '\\etc\\passwd'],
      ...['below\\..\\..\\..\\etc\\passwd', 'C:\\1.jpg'],
    ]
    await writeFile(list, ['file', ...paths].join('\n'))
    const { rows } = await importAs(user, list, '--files', folder)
    const outside = { state: 'failed', message: `The file is outside ${folder}.` }
    expect(rows).toMatchObject([
      { path: 'below\\3.jpg', state: 'registered' },
      { path: 'a\\b.jpg', state: 'registered' },
      outside,
      outside,
      outside,
      { state: 'failed', message: 'The file does not exist.' },
    ])
  })

  it('`annal import` reports file names that are not UTF-8 by row, and registers the other files', async () => {
    const user = await app.newUser({ num: '10' })
    const folder = await newFolder(1)
    const below = Buffer.from(`${folder}/caf\xe9`, 'latin1')
    await mkdir(below)
    await writeFile(Buffer.concat([below, Buffer.from('/2.jpg')]), `in a folder of ${folder}`)
    await writeFile(Buffer.from(`${folder}/t\xfcr.jpg`, 'latin1'), `a door of ${folder}`)
    const problem = { state: 'failed', code: 'not_sent', message: 'The name is not UTF-8. Rename the file or folder.' }
    const { code, rows } = await importAs(user, folder)
    expect(code).toBe(1)
    expect(rows).toMatchObject([
      { row: 1, path: '1.jpg', state: 'registered' },
      { row: 2, path: 'caf\uFFFD', ...problem },
      { row: 3, path: 't\uFFFDr.jpg', ...problem },
    ])
    const list = join(dir, 'names.csv')
    await writeFile(list, 'file\n1.jpg\nt\uFFFDr.jpg\n')
    expect((await importAs(user, list, '--files', folder)).rows).toMatchObject([
      { row: 2, state: 'existing' },
      { row: 3, ...problem },
    ])
    const said = await annal(user, join(dir, 'caf\uFFFD.csv'))
    expect(said).toMatchObject({ code: 2, stderr: expect.stringMatching(/There is no .*The name is not UTF-8/) })
  })

  it('`annal import` stops before the start if the wallet balance is too low, and names the missing amount', async () => {
    const user = await app.newUser({ points: '0.4' })
    const folder = await newFolder(3)
    for (const args of [['--dry-run'], []]) {
      const report = await importAs(user, folder, ...args)
      const cost = { each: '0.179', total: '0.537', available: '0.4', missing: '0.137' }
      expect(report).toMatchObject({ code: 1, cost, stopped: expect.stringContaining('0.137 missing') })
      expect(states(report)).toEqual(['pending', 'pending', 'pending'])
    }
    expect(await ownedBy(user)).toBe(0)
    const report = await importAs(user, folder, '--limit', '2')
    expect(report.code).toBe(0)
    expect(states(report)).toEqual(['registered', 'registered', 'pending'])
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0.042' })
  })

  it('`annal import` continues after a kill without registering or charging twice', async () => {
    // Enough for each file once.
    const user = await app.newUser({ points: '3.58' })
    const folder = await newFolder(20)
    const args = ['import', folder, '--url', app.url, '--concurrency', '3']
    const command = startAnnal(dir, args, { ANNAL_TOKEN: user.token })
    const ended = once(command, 'exit')
    await eventually(async () => (await ownedBy(user)) > 2)
    // Requests in progress wait for the lock until the command is dead. They may complete during the next import.
    await whileHeld(app, `select from wallets where user_id = '${user.id}' for update`, async () => {
      await waiting(app, 1)
      command.kill('SIGKILL')
      return ended
    })
    expect(await ownedBy(user)).toBeLessThan(20)
    const report = await importAs(user, folder)
    expect(report).toMatchObject({ code: 0, stopped: null })
    expect(new Set(states(report))).toEqual(new Set(['existing', 'registered']))
    expect(await ownedBy(user)).toBe(20)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  })

  it('`annal import` runs twice concurrently without charging twice, and stops on a signal', async () => {
    const user = await app.newUser({ points: '10' })
    const folder = await newFolder(6)
    const both = await Promise.all([importAs(user, folder), importAs(user, folder)])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    const all = both.flatMap(states)
    expect(all.filter((state) => state === 'registered')).toHaveLength(6)
    expect(all.filter((state) => state === 'existing')).toHaveLength(6)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '8.926' })
    await writeFile(join(folder, '1.jpg'), `late in ${folder}`)
    await copyFile(join(folder, '1.jpg'), join(folder, 'copy.jpg'))
    expect(await importAs(user, folder, '--dry-run')).toMatchObject({ code: 0, cost: { total: '0.179' } })
    const stopped = await annal(user, folder, [], { interrupted: AbortSignal.abort(new InterruptedError()) })
    expect(stopped).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Interrupted.') })
    expect(await ownedBy(user)).toBe(6)
    expect(await importAs(user, folder)).toMatchObject({ code: 0 })
    expect(await ownedBy(user)).toBe(7)
  })

  it('`annal import` reports a file of another owner, and a file that changes during the import', async () => {
    const folder = await newFolder(2)
    await importAs(await app.newUser({ points: '1' }), folder, '--limit', '1')
    const user = await app.newUser({ points: '1' })
    const { rows } = await importAs(user, folder)
    expect(rows).toMatchObject([{ state: 'failed', code: 'duplicate_asset_not_allowed' }, { state: 'registered' }])
    const interrupted = new AbortController().signal
    const server = createImportServer(app.url, user.token, interrupted)
    const { valid } = await examineFiles([{ row: 1, path: '2.jpg', fields: {} }], folder)
    await writeFile(join(folder, '2.jpg'), `photo X of ${folder}`)
    const { outcomes, stopped } = await processRows(valid, { server, maxCost: '1', concurrency: 1 })
    expect(outcomes).toMatchObject([{ state: 'failed', code: 'not_sent', message: expect.stringContaining('changed') }])
    expect(stopped).toBe(null)
  })

  it('`annal import` stops if the token is invalid or no service responds', async () => {
    const folder = await newFolder(1)
    const stale = await annal({ ...someone, token: 'not-a-token' }, folder)
    expect(stale).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/credentials/) })
    const elsewhere = createServer((_, response) => response.writeHead(301, { location: 'https://x.example/' }).end())
    const port = await listen(elsewhere, onTestFinished)
    const said = await annalHere({ ANNAL_TOKEN: 'x' }, ['import', folder, '--url', `http://127.0.0.1:${port}`])
    expect(said).toMatchObject({ code: 1, stderr: expect.stringMatching(/301 and redirects to https:\/\/x\.example/) })
  })

  it.each([
    [['.'], /ANNAL_TOKEN/],
    [['.', '--token-file', '/nowhere'], /Cannot read the token/],
    [['.', '--concurrency', '0'], /from 1 to 32/],
    [['.', '--limit', 'x'], /'--limit <count>'.* an integer from 1\./],
    [['.', '--url', 'localhost:4000'], /--url must be an address/],
  ])('`annal import` rejects the arguments %j with exit code 2 without a request', async (args, message) => {
    const said = await annalHere({}, ['import', ...args])
    expect(said).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it.each([
    ['unknown.csv', 'file,captoin\na.jpg,x\n', /Unknown field 'captoin'/],
    ['without.csv', 'caption\nx\n', /The field 'file' is missing/],
    ['twice.csv', 'file,tag,tag\na.jpg,x,y\n', /The field 'tag' is repeated/],
    ['open.csv', 'file\n"a', /is not CSV: Quote Not Closed/],
    ['latin.csv', Buffer.from('file\ncaf\xE9.jpg\n', 'latin1'), /is not UTF-8\. Save it as "CSV UTF-8"/],
    [
      'windows.csv',
      Buffer.from('\xef\xbb\xbf"file";tag\na.jpg;"two\nlines"\nb.jpg;\x80\n', 'latin1'),
      /is not UTF-8\./,
    ],
    ['header.csv', Buffer.from('file,Größe\n', 'latin1'), /is not UTF-8\./],
    ['utf16.txt', Buffer.from('\ufefffile', 'utf16le'), /is not UTF-8\./],
    ['both.csv', 'File;FILE\na;b\n', /The field 'file' is repeated/],
    ['latin.jsonl', Buffer.from('{"file":"a"}\n\n{"file":"\xe9"}\n', 'latin1'), /is not UTF-8\./],
    ['unknown.jsonl', '{"file":"a","note":1}', /Unknown field 'note'/],
    ['photo.jpg', 'x', /is neither a folder nor/],
  ])('`annal import` rejects the source %s with exit code 2', async (name, content, message) => {
    await writeFile(join(dir, name), content)
    const said = await annal(someone, join(dir, name))
    expect(said).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})
