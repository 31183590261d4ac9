import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { keyPairs } from '../../../src/chain/transaction.ts'
import { createCustody, createEnvelopeCipher } from '../../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../../src/keys/key-vault.ts'
import { until } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const root = await createTemporaryFolder()
let made = 0

const newDir = () => join(root, String(made++))
const hex = () => randomBytes(32).toString('hex')

function open({ dir = newDir(), key, previousKeys }: { dir?: string; key?: string; previousKeys?: string[] } = {}) {
  const vault = createLocalKeyVault({ dir, key, previousKeys })
  return { dir, vault, custody: createCustody({ vault, keyPairs }), envelopeCipher: createEnvelopeCipher({ vault }) }
}

const counterpartOf = (dir: string, owner: string) => join(dir, 'keys/counterparts', owner.slice(-2), owner)

describe('custodial keys', () => {
  it('a custodial key signs only for its owner', async () => {
    const { custody } = open()
    const [ana, bea] = [randomUUID(), randomUUID()]
    const [ofAna, ofBea] = [await custody.create(ana), await custody.create(bea)]
    expect(await custody.sign(ana, ofAna, 'a tree')).toMatch(/^0x[0-9a-f]{130}$/)
    await expect(custody.sign(ana, ofBea, 'a tree')).rejects.toThrow()
    await expect(custody.sign(ana, { ...ofAna, wrappedDataKey: ofBea.wrappedDataKey }, 'a tree')).rejects.toThrow()
    await expect(custody.sign(ana, { ...ofAna, sealedPrivateKey: ofBea.sealedPrivateKey }, 'a')).rejects.toThrow()
    const swapped = { wrappedDataKey: ofAna.sealedPrivateKey, sealedPrivateKey: ofAna.wrappedDataKey }
    await expect(custody.sign(ana, { ...ofAna, ...swapped }, 'a')).rejects.toThrow()
  })

  it('rejects an encrypted custodial key with any flipped bit', async () => {
    const { custody } = open()
    const id = randomUUID()
    const key = await custody.create(id)
    for (const field of ['wrappedDataKey', 'sealedPrivateKey'] as const) {
      for (let bit = 0; bit < key[field].length * 8; bit += 1) {
        const bytes = Buffer.from(key[field])
        bytes[bit >> 3] = bytes[bit >> 3]! ^ (1 << (bit & 7))
        await expect(custody.sign(id, { ...key, [field]: bytes }, 'a tree'), `${field} bit ${bit}`).rejects.toThrow()
      }
    }
  })

  it('rejects a custodial key that is truncated, has another version or an unknown wrapping key', async () => {
    const { custody } = open()
    const id = randomUUID()
    const key = await custody.create(id)
    const truncated = key.wrappedDataKey.subarray(0, 20)
    await expect(custody.sign(id, { ...key, wrappedDataKey: truncated }, 'a')).rejects.toThrow()
    await expect(custody.sign(id, { ...key, version: 1 }, 'a')).rejects.toThrow()
    await expect(custody.sign(id, { ...key, version: 3 }, 'a')).rejects.toThrow('unknown version')
    const unknown = { ...key, vaultKeyId: 'local:0000000000000000' }
    await expect(custody.sign(id, unknown, 'a')).rejects.toThrow('does not hold')
  })

  it('a custodial key cannot be decrypted from any copy after its owner is deleted', async () => {
    const { dir, custody } = open()
    const id = randomUUID()
    const dump = await custody.create(id)
    expect((await stat(counterpartOf(dir, id))).mode & 0o777).toBe(0o600)
    await custody.forget(id)
    await custody.forget(id)
    await expect(custody.sign(id, dump, 'a tree')).rejects.toThrow('no key share')
    expect(await readdir(join(dir, 'keys/counterparts', id.slice(-2)))).toEqual([])
    // An owner that is created again gets a new key share.
    const again = await custody.create(id)
    await expect(custody.sign(id, dump, 'a tree')).rejects.toThrow()
    expect(await custody.sign(id, again, 'a tree')).toMatch(/^0x/)
  })

  it('deletes a custodial key together with temporary files of a crash', async () => {
    const { dir, custody } = open()
    const id = randomUUID()
    await custody.create(id)
    await writeFile(`${counterpartOf(dir, id)}.0123456789ab`, await readFile(counterpartOf(dir, id)))
    await custody.forget(id)
    expect(await readdir(join(dir, 'keys/counterparts', id.slice(-2)))).toEqual([])
  })

  it('concurrent creation of a custodial key creates one key share', async () => {
    const { dir } = open()
    const id = randomUUID()
    const vaults = [open({ dir }).vault, open({ dir }).vault]
    const wrapped = await Promise.all(
      Array.from({ length: 40 }, (_, index) => vaults[index % 2]!.wrapFor(id, Buffer.alloc(32, index), 'a')),
    )
    const opened = wrapped.map(({ keyId, wrapped }) => vaults[0]!.unwrapFor(id, keyId, wrapped, 'a'))
    expect((await Promise.all(opened)).map((dataKey) => dataKey[0])).toEqual(wrapped.map((_, index) => index))
    expect(await readdir(join(dir, 'keys/counterparts', id.slice(-2)))).toEqual([id])
  })

  it.each(['../../key', '', 'A0000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000/..'])(
    'rejects the key owner %j because it is not a UUID',
    async (owner) => {
      const { vault } = open()
      await expect(vault.wrapFor(owner, randomBytes(32), 'a')).rejects.toThrow('UUID')
      await expect(vault.forget(owner)).rejects.toThrow('UUID')
    },
  )
})

describe('encrypted texts', () => {
  it('decrypts a text only with its context, and rewrapping keeps the text', async () => {
    const { vault, envelopeCipher } = open()
    const sealed = Buffer.from(await envelopeCipher.seal('a secret', 'app:1'))
    const before = envelopeCipher.prefixOf((await vault.ring.ids()).current)
    expect(sealed.subarray(0, before.length)).toEqual(before)
    await vault.ring.renew()
    const fresh = Buffer.from(await envelopeCipher.rewrap(sealed, 'app:1'))
    const after = envelopeCipher.prefixOf((await vault.ring.ids()).current)
    expect(after).not.toEqual(before)
    expect(fresh.subarray(0, after.length)).toEqual(after)
    const textBytes = 12 + 16 + 'a secret'.length
    expect(fresh.subarray(-textBytes)).toEqual(sealed.subarray(-textBytes))
    for (const each of [sealed, fresh]) expect(await envelopeCipher.open(each, 'app:1')).toBe('a secret')
    await expect(envelopeCipher.open(fresh, 'app:2')).rejects.toThrow()
    await expect(envelopeCipher.rewrap(sealed, 'app:2')).rejects.toThrow()
  })
})

describe('key ring', () => {
  it('a running vault reloads the key ring immediately for an unknown key, and soon for wrapping', async () => {
    const { dir, vault: running, custody } = open()
    const id = randomUUID()
    const key = await custody.create(id)
    const idle = open({ dir }).vault
    const operator = open({ dir })
    expect(await operator.vault.ring.renew()).toBe(true)
    const fresh = { ...key, ...(await operator.custody.rewrap(id, key)) }
    expect(fresh.vaultKeyId).not.toBe(key.vaultKeyId)
    expect(await custody.sign(id, fresh, 'a')).toBe(await custody.sign(id, key, 'a'))
    expect((await running.wrap(randomBytes(32), 'a')).keyId).toBe(fresh.vaultKeyId)
    await until('the key is loaded', async () => (await idle.wrap(randomBytes(32), 'a')).keyId === fresh.vaultKeyId)
  })

  it('reloads the key ring even if the clock was set back by an hour', async () => {
    const { dir, vault: running } = open()
    const operator = open({ dir })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await operator.vault.ring.renew()).toBe(true)
    const { current } = await operator.vault.ring.ids()
    await until('the key is loaded', async () => (await running.wrap(randomBytes(32), 'a')).keyId === current)
  })

  it('concurrent rotations lose no wrapping key', async () => {
    const { dir, vault } = open()
    const wraps = [await vault.wrap(Buffer.alloc(32, 7), 'a')]
    const operators = Array.from({ length: 5 }, () => open({ dir }).vault)
    await Promise.all(
      operators.map(async (operator) => {
        await operator.ring.renew()
        wraps.push(await operator.wrap(Buffer.alloc(32, 7), 'a'))
      }),
    )
    const after = open({ dir }).vault
    for (const { keyId, wrapped } of wraps) expect(await after.unwrap(keyId, wrapped, 'a')).toEqual(Buffer.alloc(32, 7))
  })

  it('deletes old wrapping keys only after a waiting time', async () => {
    const { dir, vault } = open()
    const { keyId, wrapped } = await vault.wrap(randomBytes(32), 'a')
    await vault.ring.renew()
    await expect(vault.ring.destroyEarlier()).rejects.toThrow('15 minutes')
    const hourAgo = Date.now() / 1_000 - 3_600
    await utimes(join(dir, 'keys/key-encryption-key'), hourAgo, hourAgo)
    expect(await vault.ring.destroyEarlier()).toEqual([keyId])
    expect(await vault.ring.destroyEarlier()).toEqual([])
    await expect(vault.unwrap(keyId, wrapped, 'a')).rejects.toThrow('does not hold')
    await expect(open({ dir }).vault.unwrap(keyId, wrapped, 'a')).rejects.toThrow('does not hold')
    expect(await readdir(join(dir, 'keys/ring'))).toHaveLength(1)
  })

  it('reads wrapping keys from the environment, where the operator rotates the keys', async () => {
    const [first, second] = [hex(), hex()]
    const before = open({ key: first })
    const id = randomUUID()
    const key = await before.custody.create(id)
    expect(await before.vault.ring.renew()).toBe(false)
    const after = open({ dir: before.dir, key: second, previousKeys: [first] })
    expect((await after.vault.ring.ids()).earlier).toEqual([key.vaultKeyId])
    const fresh = { ...key, ...(await after.custody.rewrap(id, key)) }
    const last = open({ dir: before.dir, key: second })
    expect(await last.custody.sign(id, fresh, 'a')).toBe(await before.custody.sign(id, key, 'a'))
    await expect(last.custody.sign(id, key, 'a')).rejects.toThrow('does not hold')
    expect(await readdir(join(before.dir, 'keys'))).toEqual(['counterparts', 'derivation-key'])
  })

  it('wrapping keys can move from a file to the environment', async () => {
    const file = open()
    const { keyId, wrapped } = await file.vault.wrap(Buffer.alloc(32, 7), 'a')
    const environment = open({ dir: file.dir, key: hex() })
    expect(await environment.vault.unwrap(keyId, wrapped, 'a')).toEqual(Buffer.alloc(32, 7))
    expect(await environment.vault.ring.destroyEarlier()).toEqual([keyId])
    await expect(environment.vault.unwrap(keyId, wrapped, 'a')).rejects.toThrow('does not hold')
  })

  it('rejects a damaged wrapping key', async () => {
    expect(() => open({ key: 'abc' })).toThrow('damaged')
    expect(() => open({ key: hex(), previousKeys: ['z'.repeat(64)] })).toThrow('damaged')
    const { dir } = open()
    const file = join(dir, 'keys', 'key-encryption-key')
    await writeFile(file, 'geheim')
    const sentence = `${file} is damaged: expected 64 hex digits. Restore ANNAL_DIR/keys from the backup.`
    for (const key of [undefined, hex()]) expect(() => open({ dir, key })).toThrow(sentence)
  })
})

describe('derived keys', () => {
  it('derived keys survive a rotation, and differ by purpose and installation', async () => {
    const { dir, vault } = open()
    const before = vault.derive('file-links')
    await vault.ring.renew()
    expect(vault.derive('file-links')).toEqual(before)
    expect(open({ dir }).vault.derive('file-links')).toEqual(before)
    expect(vault.derive('idempotency')).not.toEqual(before)
    expect(open().vault.derive('file-links')).not.toEqual(before)
    expect(before).toHaveLength(32)
  })

  it('derived keys survive the removal of an old wrapping key from the environment', () => {
    const [first, second] = [hex(), hex()]
    const { dir, vault } = open({ key: first })
    open({ dir, key: second, previousKeys: [first] })
    expect(open({ dir, key: second }).vault.derive('file-links')).toEqual(vault.derive('file-links'))
    // Also with a new folder, for example on a second host.
    expect(open({ key: second, previousKeys: [first] }).vault.derive('a')).toEqual(vault.derive('a'))
  })
})
