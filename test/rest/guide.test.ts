/** The lines of docs/guide.md about what was, as a reader types them. */
import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTestApp } from '../support/test-app.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

async function commandsOf(heading: string): Promise<string[]> {
  const guide = await readFile('docs/guide.md', 'utf8')
  const [, section = ''] = new RegExp(`^## ${heading}\n(.*?)^## `, 'ms').exec(guide) ?? []
  const lines = section.split('\n').filter((line) => line.startsWith('    '))
  return lines.join('\n').split(/(?<!\\)\n/)
}

it.skipIf(!hasCurl)('the guide leads from changes to what was, and back', async () => {
  const app = await createTestApp()
  const user = await app.newUser()
  const { id } = await user.register({ caption: 'Evening at sea' })
  const commands = await commandsOf('What was')
  const script = commands.map((command) => `${command.replaceAll('localhost:4000', app.url)}\necho`).join('\n')
  const env = { ...process.env, TOKEN: user.token, NID: id }
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env })
  const [first, second, , tree, whatWas, reverted] = stdout.split('\n').map((line) => (line ? JSON.parse(line) : null))
  expect([first.headline, second.headline]).toEqual(['Dawn', 'Dusk'])
  expect(tree).toMatchObject({ nid: id, assetTree: { abstract: 'Evening at sea', headline: '' } })
  expect(whatWas.data).toMatchObject({
    before: { headline: '' },
    asset: {
      diff: { changes: { headline: ['', 'Dusk'], nit_commit_custom: [{}, { license: { name: 'CC-BY-4.0' } }] } },
      blame: [
        { field: 'caption', commit: { sequence: 1, user: { username: user.username } } },
        { field: 'headline', commit: { sequence: 3 } },
        { field: 'nit_commit_custom', key: 'license', commit: { sequence: 2 } },
      ],
    },
  })
  expect(reverted).toMatchObject({ caption: 'Evening at sea', headline: '' })
  expect(reverted.nit_commit_custom ?? {}).toEqual({})
})
