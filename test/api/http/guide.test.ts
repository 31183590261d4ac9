/** Runs the commands of docs/guide.md about versions. */
import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTestApp } from '../../support/test-app.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

async function commandsOf(heading: string): Promise<string[]> {
  const guide = await readFile('docs/guide.md', 'utf8')
  const [, section = ''] = new RegExp(`^## ${heading}\n(.*?)^## `, 'ms').exec(guide) ?? []
  const lines = section.split('\n').filter((line) => line.startsWith('    '))
  return lines.join('\n').split(/(?<!\\)\n/)
}

it.skipIf(!hasCurl)("runs the guide's commands to change an asset, read its versions and revert it", async () => {
  const app = await createTestApp()
  const user = await app.newUser()
  const { id } = await user.register({ caption: 'Evening at sea' })
  const commands = await commandsOf('Versions')
  const script = commands.map((command) => `${command.replaceAll('localhost:4000', app.url)}\necho`).join('\n')
  const env = { ...process.env, TOKEN: user.token, NID: id }
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env })
  const [first, second, , tree, versions, reverted] = stdout.split('\n').map((line) => (line ? JSON.parse(line) : null))
  expect([first.headline, second.headline]).toEqual(['Dawn', 'Dusk'])
  expect(tree).toMatchObject({ nid: id, assetTree: { abstract: 'Evening at sea', headline: '' } })
  expect(versions.data.asset).toMatchObject({
    version: { headline: '' },
    versions: [
      { headline: 'Dusk', commit: { sequence: 3 } },
      { headline: 'Dawn', commit: { sequence: 2 } },
      { headline: '', commit: { sequence: 1, user: { username: user.username } } },
    ],
    diff: { changes: { headline: ['', 'Dusk'], nit_commit_custom: [{}, { license: { name: 'CC-BY-4.0' } }] } },
  })
  expect(reverted).toMatchObject({ caption: 'Evening at sea', headline: '' })
  expect(reverted.nit_commit_custom ?? {}).toEqual({})
})
