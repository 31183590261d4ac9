import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { issueApiKey } from '../../../src/modules/store/api-keys.ts'
import { createTestApp } from '../../support/test-app.ts'

const root = resolve(import.meta.dirname, '../../..')
const hasCurl = spawnSync('curl', ['--version']).status === 0

/** Commands that a test environment replaces by variables, or that do not send requests. */
const OTHER_COMMAND = /^(npm|npx|annal|kill|ALLOW_INSECURE_WEBHOOKS=|WEBHOOK_SECRET=|ROOT=|ADMIN=|KEY=\$\(npm)/

async function commandsOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^( *)```sh\n(.*?)^ *```/gms)].map(([, indentation, block]) =>
    block!.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  )
  return blocks.flatMap((block) => block.trim().split(/(?<!\\)\n/)).filter((command) => !OTHER_COMMAND.test(command))
}

const pages = [
  'README.md',
  'docs/tutorial/first-asset.md',
  'docs/tutorial/sell-an-action.md',
  'docs/how-to/get-a-typed-client.md',
  'docs/how-to/manage-your-account.md',
  'docs/how-to/page-through-a-list.md',
  'docs/how-to/quote-before-you-pay.md',
  'docs/how-to/read-and-revert-versions.md',
  'docs/how-to/send-a-request-twice-safely.md',
  'docs/how-to/share-a-private-asset.md',
  'docs/how-to/subscribe-to-events.md',
  'docs/how-to/upload-a-file.md',
  'docs/how-to/use-an-api-key.md',
  'docs/how-to/verify-a-webhook.md',
]

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const admin = await app.admin()
const { key } = await issueApiKey(asSystem(app.context), { name: 'Shop' })
const json = { name: 'upscale', price_mode: 'fixed', price: '1.5', webhook_url: 'http://localhost:9/' }
const created = await admin.rest('POST', 'store/network-apps/', { json })

/** Runs the commands of a page as a new user with an asset. Returns the output of each. */
async function run(page: string): Promise<{ nid: string; outputs: string[] }> {
  const user = await app.newUser()
  const { id: nid } = await user.register({ caption: 'Evening at sea' })
  const { body: feed } = await user.rest('GET', 'events/')
  const cwd = await mkdtemp(join(tmpdir(), 'annal-page-'))
  for (const file of ['photo.jpg', 'second.jpg']) await writeFile(join(cwd, file), `${file} ${page} ${nid}`)
  const script = (await commandsOf(page))
    .map((command) => command.replaceAll('localhost:4000', app.url.replace('http://', '')))
    // Several pages run in the same second.
    .map((command) => command.replaceAll('$(date +%s)', String(Date.now())))
    .map((command) => command.replace(/^curl -sN/, 'timeout 1 curl -sN'))
    .map((command) => `${command}\nprintf '\\n===\\n'`)
    .join('\n')
  const variables = { TOKEN: user.token, NID: nid, ADMIN: admin.token, KEY: key, APP_ID: created.body.id }
  const env = { ...process.env, ...variables, EVENT: feed.results[0].id }
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd, env, timeout: 60_000 })
  await rm(cwd, { recursive: true })
  return { nid, outputs: stdout.split('\n===\n') }
}

it.skipIf(!hasCurl).each(pages)('the requests in the document %s succeed', async (page) => {
  const { outputs } = await run(page)
  expect(outputs.length).toBeGreaterThan(1)
  expect(outputs.filter((output) => /"error":\{|"errors":\[\{|"code":"/.test(output))).toEqual([])
})

it.skipIf(!hasCurl)(
  'the commands of the page about versions change an asset, read its versions and revert it',
  async () => {
    const { nid, outputs } = await run('docs/how-to/read-and-revert-versions.md')
    const [first, second, , tree, versions, reverted] = outputs.map((output) => (output ? JSON.parse(output) : null))
    expect([first.headline, second.headline]).toEqual(['Dawn', 'Dusk'])
    expect(tree).toMatchObject({ nid, assetTree: { abstract: 'Evening at sea', headline: '' } })
    expect(versions.data.asset).toMatchObject({
      version: { headline: '' },
      versions: [
        { headline: 'Dusk', commit: { sequence: 3 } },
        { headline: 'Dawn', commit: { sequence: 2 } },
        { headline: '', commit: { sequence: 1 } },
      ],
      diff: { changes: { headline: ['', 'Dusk'], nit_commit_custom: [{}, { license: { name: 'CC-BY-4.0' } }] } },
    })
    expect(reverted).toMatchObject({ caption: 'Evening at sea', headline: '' })
  },
)
