import { link, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keyPairs } from '../../src/chain/transaction.ts'
import type { Database } from '../../src/db/database-types.ts'
import type { Query } from '../../src/db/sql.ts'
import { createCustody, createEnvelopeCipher } from '../../src/keys/envelope-encryption.ts'
import { createKeyRotation } from '../../src/keys/key-rotation.ts'
import { createLocalKeyVault } from '../../src/keys/key-vault.ts'
import { webhookSecretContext } from '../../src/modules/store/network-apps.ts'
import { unavailable } from '../../src/shared/errors.ts'
import { fromId } from '../../src/shared/ids.ts'
import { expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const { dir } = app.installation.config
const store = await createStore(app)
const shop = await app.admin()

/** A rotation like that of the command line, with its own vault on the files of the running service. */
const operator = (database: Database = app.installation.database) => {
  const vault = createLocalKeyVault({ dir, key: undefined })
  const custody = createCustody({ vault, keyPairs })
  return createKeyRotation({ database, custody, envelopeCipher: createEnvelopeCipher({ vault }), keyRing: vault.ring })
}

interface KeyImage {
  user_id: string
  version: number
  vault_key_id: string
  wrapped_data_key: Buffer
  sealed_private_key: Buffer
}

const keyImages = () => app.sql<KeyImage>('select * from user_keys order by user_id')

const sign = (row: KeyImage) =>
  app.installation.custody.sign(
    row.user_id,
    {
      version: row.version,
      vaultKeyId: row.vault_key_id,
      wrappedDataKey: row.wrapped_data_key,
      sealedPrivateKey: row.sealed_private_key,
    },
    'a tree',
  )

const argsOf = async (buyer: SignedIn, id: string) =>
  expectOk(await buyer.rest('GET', `store/network-app-orders/${id}/`, { headers: store.service })).action_args

const left = async () => (await operator().status()).keys.slice(1).reduce((sum, { total }) => sum + total, 0)

async function makeApp(name: string) {
  const json = { name, price_mode: 'fixed', price: '1', webhook_url: 'https://example.org/hook' }
  const { id } = expectOk(await shop.rest('POST', 'store/network-apps/', { json }))
  expectOk(await shop.rest('POST', `store/network-apps/${id}/rotate-secret/`))
  const { uuid } = fromId(id, 'app')!
  const open = (sealed: Buffer) => app.installation.envelopeCipher.open(sealed, webhookSecretContext(uuid))
  return async () => {
    const [row] = await app.sql<{ now: Buffer; before: Buffer }>(
      'select webhook_secret as now, previous_secret as before from network_apps where id = $1::uuid',
      [uuid],
    )
    return [await open(row!.now), await open(row!.before)]
  }
}

describe('rotation of the key-encryption key', () => {
  it('a key rotation rewraps all data keys, leaves encrypted data unchanged, and writes an audit entry', async () => {
    const buyer = await app.newUser()
    const order = await store.order(buyer, { action_args: { token: 'abc' } })
    const secretsOf = await makeApp(`app of ${buyer.username}`)
    const secrets = await secretsOf()
    const before = await keyImages()
    const signatures = await Promise.all(before.map(sign))
    const reported: [number, number][] = []
    const rotation = await operator().rotate((done, total) => reported.push([done, total]))
    expect(rotation).toEqual({ current: expect.any(String), isNew: true, rewrapped: before.length + 3, unreadable: [] })
    expect(reported.at(-1)).toEqual([rotation.rewrapped, rotation.rewrapped])

    const after = await keyImages()
    expect(after.map(({ sealed_private_key }) => sealed_private_key)).toEqual(
      before.map(({ sealed_private_key }) => sealed_private_key),
    )
    expect(new Set(after.map(({ vault_key_id }) => vault_key_id))).toEqual(new Set([rotation.current]))
    expect(await Promise.all(after.map(sign))).toEqual(signatures)
    expect(await argsOf(buyer, order.id)).toEqual({ token: 'abc' })
    expect(await secretsOf()).toEqual(secrets)
    expect(await left()).toBe(0)
    expect(await app.sql("select user_id, subject from audit_entries where action = 'keys.rotated'")).toEqual([
      { user_id: null, subject: rotation.current },
    ])
  })

  it('a key rotation waits during a short database outage, and reports nothing as unreadable', async () => {
    for (let count = 0; count < 5; count += 1) await app.newUser()
    const { database } = app.installation
    let outages = 0
    const query = (async (statement: { name: string }, parameters?: unknown) => {
      if (['keys_page', 'keys_replace'].includes(statement.name) && outages < 3) {
        outages += 1
        throw unavailable('The database')
      }
      return database.query(statement as never, parameters as never)
    }) as Query
    const rotation = await operator({ ...database, query }).rotate(() => {})
    expect(rotation).toMatchObject({ unreadable: [] })
    expect([outages, await left()]).toEqual([3, 0])
  })

  it('a key rotation works while accounts and orders are created', async () => {
    const buyer = await app.newUser({ points: '1000' })
    const orders: string[] = []
    let isOver = false
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      while (!isOver) {
        await app.newUser()
        const order = await store.order(buyer, { action_args: { writer, number: orders.length } })
        expect(await argsOf(buyer, order.id)).toMatchObject({ writer })
        orders.push(order.id)
      }
    })
    const rotation = await operator().rotate(() => {})
    isOver = true
    await Promise.all(writers)
    expect(rotation).toMatchObject({ isNew: true, unreadable: [] })
    expect(orders.length).toBeGreaterThan(0)
    for (const row of await keyImages()) expect(await sign(row)).toMatch(/^0x/)
    for (const id of orders) expect(await argsOf(buyer, id)).toHaveProperty('number')
    expect(await left()).toBe(0)
  })

  it('a key rotation reports keys that cannot be decrypted, and rewraps the other keys', async () => {
    const user = await app.newUser()
    const [whole] = await app.sql<KeyImage>('select * from user_keys where user_id = $1::uuid', [user.id])
    const damage = 'update user_keys set wrapped_data_key = $2 where user_id = $1::uuid'
    await app.sql(damage, [user.id, Buffer.from(whole!.wrapped_data_key).fill(0, 20)])
    const rotation = await operator().rotate(() => {})
    expect(rotation.unreadable).toEqual([{ holder: 'user_keys', id: user.publicId, reason: expect.any(String) }])
    expect(await left()).toBe(1)
    await app.sql(damage, [user.id, whole!.wrapped_data_key])
    expect(await operator().rotate(() => {})).toMatchObject({ isNew: false, rewrapped: 1, unreadable: [] })
  })

  it('a key rotation leaves no copy of a destroyed key, even after a killed start', async () => {
    const file = join(dir, 'keys/key-encryption-key')
    const key = await readFile(file, 'utf8')
    const [copy, young, own] = ['0123456789ab', 'ba9876543210', 'kept'].map((name) => `${file}.${name}`)
    await link(file, copy!)
    await operator().rotate(() => {})
    await Promise.all([young!, own!].map((path) => writeFile(path, 'somebody writes it')))
    const hourAgo = Date.now() / 1_000 - 3_600
    for (const path of [file, copy!, own!]) await utimes(path, hourAgo, hourAgo)
    await operator().destroyEarlier()
    const left = await readdir(join(dir, 'keys'), { recursive: true, withFileTypes: true })
    const paths = left.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
    expect(paths.filter((_, index) => texts[index]!.includes(key))).toEqual([])
    expect((await Promise.all([young!, own!].map((path) => stat(path)))).every((found) => found.isFile())).toBe(true)
  })
})

describe('rejected sign-ups', () => {
  it('a rejected sign-up leaves no key share behind', async () => {
    const user = await app.newUser()
    const folder = join(dir, 'keys/counterparts')
    const count = async () => (await readdir(folder, { recursive: true })).filter((name) => name.length > 10).length
    const before = await count()
    const json = { username: user.username, email: 'new@example.org', password: PASSWORD }
    expect((await app.rest('POST', 'auth/users/', { json })).status).toBe(400)
    expect(await count()).toBe(before)
    const free = { username: 'free', email: 'free@example.org', password: PASSWORD }
    expect((await app.rest('POST', 'auth/users/', { json: free })).status).toBe(201)
    expect(await count()).toBe(before + 1)
  })
})
