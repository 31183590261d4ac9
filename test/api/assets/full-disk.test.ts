import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bothApis } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { type DiskFailure, onFailingDisk } from '../../support/failing-disk.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const { dir } = app.installation.config
const user = await app.newUser()

const stored = async () => {
  const found = await Promise.all(
    ['blocks', 'uploads'].map((folder) =>
      readdir(join(dir, folder), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  )
  return found
    .flat()
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
}

const largeFile = () => new File([randomBytes(700_000)], 'large.png', { type: 'image/png' })

const failures: [string, Omit<DiskFailure, 'below'> & { below: string }][] = [
  ['the upload folder is full', { operation: 'writev', code: 'ENOSPC', below: 'uploads' }],
  [
    'the upload folder becomes full during the upload',
    { operation: 'writev', code: 'ENOSPC', below: 'uploads', after: 1 },
  ],
  ['the disk quota is exhausted', { operation: 'writeFile', code: 'EDQUOT', below: 'blocks' }],
  [
    'the content store becomes full during the import',
    { operation: 'writeFile', code: 'ENOSPC', below: 'blocks', after: 2 },
  ],
  ['a block cannot be synced', { operation: 'sync', code: 'EIO', below: 'blocks', after: 1 }],
  ['the directory entry of a block cannot be synced', { operation: 'sync', code: 'EIO', below: 'blocks', after: 4 }],
]

describe.each(failures)('registration when %s', (_, failure) => {
  const failing = { ...failure, below: join(dir, failure.below) }

  it.each(bothApis)(
    'a registration without disk space is rejected over $name, charges nothing, and succeeds on retry',
    async (api) => {
      const [before, wallet] = [await stored(), await app.wallet(user)]
      const assetFile = largeFile()
      const options = { headers: { 'Idempotency-Key': randomUUID() } }
      const attempt = () => api.registerAsset(user, { assetFile }, options)
      const { result, failures } = await onFailingDisk(failing, attempt)
      expect(failures).toBeGreaterThan(0)
      result.fails('INSUFFICIENT_STORAGE')
      expect([result.status, result.headers.get('retry-after')]).toEqual([api.name === 'REST' ? 507 : 503, '60'])
      expect(result.text).not.toContain(dir)
      expect([await stored(), await app.wallet(user)]).toEqual([before, wallet])
      const { id } = (await attempt()).ok()
      expect((await app.rest('GET', `/ipfs/${id}`, { actor: user })).text.length).toBeGreaterThan(0)
    },
  )
})

describe('sign-up without disk space for the key of the account', () => {
  const folder = join(dir, 'keys/counterparts')
  const kept = async () => (await readdir(folder, { recursive: true })).filter((name) => name.length > 2).sort()

  it('a sign-up without disk space returns 503 with a retry time, stores nothing, and succeeds on retry', async () => {
    const before = await kept()
    const name = `late${randomBytes(6).toString('hex')}`
    const json = { username: name, email: `${name}@example.org`, password: 'correct horse' }
    const attempt = () => app.rest('POST', 'auth/users/', { json })
    const { result, failures } = await onFailingDisk({ operation: 'sync', code: 'ENOSPC', below: folder }, attempt)
    expect(failures).toBeGreaterThan(0)
    expectError(result, 'UNAVAILABLE')
    expect([result.status, result.headers.get('retry-after')]).toEqual([503, '5'])
    expect(result.text).not.toContain(dir)
    expect(await kept()).toEqual(before)
    expectOk(await attempt())
  })
})

describe('rejected registrations', () => {
  it('a registration stores nothing if the price is too high', async () => {
    const before = await stored()
    const multipart = { asset_file: largeFile(), max_cost: '0.1' }
    for (const headers of [{}, { 'Idempotency-Key': randomUUID() }] as Record<string, string>[]) {
      expectError(await user.rest('POST', 'assets/', { multipart, headers }), 'PRICE_EXCEEDS_MAX_COST')
    }
    expect(await stored()).toEqual(before)
  })

  it('a registration deletes its blocks immediately if the wallet became empty during the upload', async () => {
    const poor = await app.newUser({ points: '0.179' })
    const before = await stored()
    const files = [largeFile(), largeFile(), largeFile()]
    const answers = await Promise.all(
      files.map((asset_file) => poor.rest('POST', 'assets/', { multipart: { asset_file } })),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(2)
    for (const answer of refused) expectError(answer, 'ASSET_COMMIT_INSUFFICIENT_FUND')
    // Three leaf blocks and the node that links them.
    expect(await stored()).toHaveLength(before.length + 4)
  })

  it('a rejected registration keeps its blocks if another user registered the same file', async () => {
    const file = largeFile()
    const others = await Promise.all(Array.from({ length: 6 }, () => app.newUser()))
    const answers = await Promise.all(
      others.map((other) => other.rest('POST', 'assets/', { multipart: { asset_file: file, public_access: 'true' } })),
    )
    const [won, ...more] = answers.filter(({ status }) => status === 201)
    expect(more).toEqual([])
    const bytes = await fetch(`${app.url}/ipfs/${won!.body.cid}`)
    expect(Buffer.from(await bytes.arrayBuffer()).equals(Buffer.from(await file.arrayBuffer()))).toBe(true)
  })

  it('a registration stores nothing if its idempotency key was used for another file', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    expectOk(await user.rest('POST', 'assets/', { multipart: { asset_file: newFile() }, headers }))
    const before = await stored()
    const again = await user.rest('POST', 'assets/', { multipart: { asset_file: largeFile() }, headers })
    expectError(again, 'IDEMPOTENCY_KEY_REUSED')
    expect(await stored()).toEqual(before)
  })
})
