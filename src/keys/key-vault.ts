/**
 * The local key vault: key-encryption keys and a key share for each owner. Key-encryption keys come from the
 * environment or from files of mode 0600. The file `key-encryption-key` is the current key, and `ring` contains a copy
 * of every key that may still be needed.
 */
import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError, LostKeyError, unavailable } from '../shared/errors.ts'
import { errorCode, FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile, readOrCreate, removeFile, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { seal, unseal } from './seal.ts'

type LocalKeyVault = ReturnType<typeof createLocalKeyVault>
export type KeyVault = Omit<LocalKeyVault, 'ring'>
/** The vault's key-encryption keys, for operators. */
export type KeyRing = Pick<LocalKeyVault['ring'], 'ids' | 'renew' | 'destroyEarlier'>

type RingKey = { id: string; key: Buffer }

/** Minimum time from the replacement to the destruction of a key, in milliseconds. Running requests may use the key. */
const REST_MS = 15 * 60_000
const CHECK_INTERVAL_MS = 1_000
const KEY_SHARE_BYTES = 32

export const vaultIdFile = (dir: string): string => join(dir, 'keys', 'vault-id')

export function readVaultId(dir: string): string | undefined {
  try {
    return readFileSync(vaultIdFile(dir), 'utf8').trim()
  } catch (error) {
    return ifMissing(error)
  }
}

const isKey = (hex: string) => /^[0-9a-f]{64}$/i.test(hex)
const newKey = () => randomBytes(32).toString('hex')

function toRingKey(hex: string): RingKey {
  if (!isKey(hex)) throw new Error('A key-encryption key is damaged: expected 64 hex digits.')
  const key = Buffer.from(hex, 'hex')
  return { id: `local:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`, key }
}

function checked(hex: string, file: string): string {
  if (isKey(hex)) return hex
  throw new FixableError(`${file} is damaged: expected 64 hex digits.`, 'Restore ANNAL_DIR/keys from the backup.')
}

const readKey = (file: string) => checked(readFileSync(file, 'utf8').trim(), file)

function versionOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.mtimeMs}` : ''
}

/** `key`: 64 hex digits, or undefined to use a file. `previousKeys`: earlier keys besides those in files, newest first. */
type KeySource = { dir: string; key: string | undefined; previousKeys?: readonly string[] }

/** Reads the keys, and creates the first key if there is none. Throws if a file is damaged. `assertOwn` throws UNAVAILABLE for a foreign folder. */
function openKeyRing({ dir: root, key, previousKeys = [] }: KeySource, assertOwn: () => void) {
  const dir = join(root, 'keys')
  const file = join(dir, 'key-encryption-key')
  const ringDir = join(dir, 'ring')
  const copyOf = ({ id }: RingKey) => join(ringDir, id.replace(':', '-'))
  const usesFiles = key === undefined

  function read(): [RingKey, ...RingKey[]] {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const hexes = usesFiles ? [checked(readOrCreate(file, newKey), file)] : [key]
    hexes.push(...previousKeys)
    if (existsSync(ringDir)) {
      // Names with a dot are temporary files that a crash left behind.
      const files = readdirSync(ringDir).filter((name) => !name.includes('.'))
      const paths = files.map((name) => join(ringDir, name))
      hexes.push(...paths.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs).map(readKey))
    }
    // If the operator moved the key from the file to the environment, the key in the file is an earlier key.
    if (!usesFiles && existsSync(file)) hexes.push(readKey(file))
    const keys = new Map(hexes.map(toRingKey).map((each) => [each.id, each]))
    return [...keys.values()] as [RingKey, ...RingKey[]]
  }

  // Read the version before the keys. Otherwise a key that is written in between would be missed.
  let version = versionOf(file)
  let keys = read()
  // Use the monotonic clock. Otherwise a destroyed key could continue to wrap after a change of the system clock.
  let checkedAt = performance.now()

  function reload() {
    // An unmounted or exchanged folder has no key, or the keys of another installation.
    assertOwn()
    version = versionOf(file)
    keys = read()
  }

  return {
    current(): RingKey {
      if (usesFiles && performance.now() - checkedAt > CHECK_INTERVAL_MS) {
        checkedAt = performance.now()
        if (versionOf(file) !== version) reload()
      }
      return keys[0]
    },
    /** Finds a key by its ID. Reads the files again for an unknown ID. Throws LostKeyError. */
    find(id: string): RingKey {
      if (!keys.some((each) => each.id === id)) reload()
      const found = keys.find((each) => each.id === id)
      if (!found) throw new LostKeyError(`The key vault does not hold the key ${id}.`)
      return found
    },
    oldest: () => keys.at(-1)!,
    /** Returns the IDs of the current key and of earlier keys, newest first. */
    async ids(): Promise<{ current: string; earlier: string[] }> {
      reload()
      return { current: keys[0].id, earlier: keys.slice(1).map(({ id }) => id) }
    },
    /** Creates a new current key. Returns false if the operator configures the key. */
    async renew(): Promise<boolean> {
      reload()
      if (!usesFiles) return false
      const fresh = toRingKey(newKey())
      try {
        // Both keys are in the ring before the current one is replaced, so concurrent rotations lose no key.
        for (const each of [keys[0], fresh]) await createFile(copyOf(each), each.key.toString('hex'))
        await replaceFile(file, fresh.key.toString('hex'))
      } catch (error) {
        if (!['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error
        const fix = 'Free space or grow the disk, and rotate again. `annal gc` removes unused file blocks.'
        throw new FixableError(`There is no space for a new key in ${dir}.`, fix, { cause: error })
      }
      reload()
      return true
    },
    /** Destroys the stored earlier keys. Returns their IDs. Throws CONFLICT if they were replaced too recently. */
    async destroyEarlier(): Promise<string[]> {
      reload()
      const wait = usesFiles ? REST_MS - (Date.now() - statSync(file).mtimeMs) : 0
      const filesOf = (each: RingKey) => [
        copyOf(each),
        ...(!usesFiles && existsSync(file) && toRingKey(readKey(file)).id === each.id ? [file] : []),
      ]
      const earlier = keys.slice(1).filter((each) => filesOf(each).some((path) => existsSync(path)))
      if (earlier.length > 0 && wait > 0) {
        throw new DomainError(
          'CONFLICT',
          `An earlier key can be destroyed ${REST_MS / 60_000} minutes after its replacement, because requests may still use it. Try again in ${Math.ceil(wait / 60_000)} minutes.`,
          { retryAfter: Math.ceil(wait / 1_000) },
        )
      }
      for (const path of earlier.flatMap(filesOf)) await removeFile(path)
      // A start that was killed while it created a key left another copy.
      await removeTemporaryFiles(file, Date.now() - REST_MS)
      reload()
      return earlier.map(({ id }) => id)
    },
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function shareFile(folder: string, owner: string) {
  if (!uuid.test(owner)) throw new TypeError('An owner must be a UUID in lowercase.')
  return join(folder, owner.slice(-2), owner)
}

const exists = async (path: string) => (await stat(path).catch(ifMissing)) !== undefined

/** Yields the owners that files in `dir` are named after, unordered. Skips temporary files. */
async function* ownersIn(dir: string): AsyncGenerator<string> {
  const list = async (folder: string) => (await readdir(folder).catch(ifMissing)) ?? []
  for (const folder of await list(dir)) {
    for (const name of await list(join(dir, folder))) if (uuid.test(name)) yield name
  }
}

/**
 * Opens the key shares. Without the key share of an owner, a file with 32 random bytes, nothing of the owner can be decrypted. The folder
 * `deleted` contains an empty file for each deleted owner. Changes are on the disk when a method resolves.
 */
export function openKeyShares(dir: string, assertOwn = () => {}) {
  const sharesDir = join(dir, 'keys', 'counterparts')
  const deletedDir = join(dir, 'keys', 'deleted')
  const fileOf = (owner: string) => shareFile(sharesDir, owner)

  const isDeleted = (owner: string) => exists(shareFile(deletedDir, owner))

  async function find(owner: string): Promise<Buffer | undefined> {
    const keyShare = await readFile(fileOf(owner)).catch(ifMissing)
    if (keyShare && keyShare.length !== KEY_SHARE_BYTES) throw new LostKeyError(`The key share of ${owner} is damaged.`)
    return keyShare
  }

  return {
    isDeleted,
    find,
    has: (owner: string): Promise<boolean> => exists(fileOf(owner)),
    async findOrCreate(owner: string): Promise<Buffer> {
      const keyShare = await find(owner)
      if (keyShare) return keyShare
      if (await isDeleted(owner)) throw new LostKeyError(`${owner} was deleted.`, { isForGood: true })
      assertOwn()
      await createFile(fileOf(owner), randomBytes(KEY_SHARE_BYTES)).catch((error: unknown) => {
        throw unavailable('The key vault', error)
      })
      const created = await find(owner)
      if (!created) throw new Error(`The key share of ${owner} was destroyed.`)
      return created
    },
    /** Destroys the key share, and with it all keys that were wrapped for the owner. Storage devices keep old blocks, so overwriting is useless. */
    async forget(owner: string): Promise<void> {
      assertOwn()
      await removeFile(fileOf(owner))
    },
    /** Records that the owner was deleted. Afterwards nothing can be wrapped for the owner. */
    async markDeleted(owner: string): Promise<void> {
      assertOwn()
      await createFile(shareFile(deletedDir, owner), '')
    },
    owners: () => ownersIn(sharesDir),
    deletedOwners: () => ownersIn(deletedDir),
  }
}

// The two steps of HKDF-SHA256. The result of the first is stored. The second derives a key for each purpose.
const extract = (key: Uint8Array) => createHmac('sha256', 'annal').update(key).digest()
const expand = (root: Uint8Array, purpose: string) =>
  createHmac('sha256', root).update(purpose).update(Buffer.of(1)).digest()

/**
 * Opens the vault, which wraps data keys with key-encryption keys that never leave it. The current key wraps, and earlier keys still unwrap. A key of an
 * owner also needs the owner's key share. `context` is authenticated. Creates missing files at the first start. Throws if a file is damaged.
 * `id` is the identity of the vault. Without it, an unmounted or exchanged folder is not detected later.
 */
export function createLocalKeyVault({ id, ...source }: KeySource & { id?: string | undefined }) {
  const { dir } = source
  const keysDir = join(dir, 'keys')
  const assertOwn = () => {
    if (id !== undefined && readVaultId(dir) !== id)
      throw unavailable('The key vault', new Error(`The folder ${keysDir} does not belong to this installation.`))
  }
  const ring = openKeyRing(source, assertOwn)
  const { find, findOrCreate, isDeleted, ...keyShares } = openKeyShares(dir, assertOwn)
  // The derivation key is stored, because links and retries must survive a rotation. It reveals nothing about the key
  // that it is derived from.
  const root = Buffer.from(
    readOrCreate(join(keysDir, 'derivation-key'), () => extract(ring.oldest().key).toString('hex')),
    'hex',
  )
  if (root.length !== 32) throw new Error('The derivation key is damaged: expected 64 hex digits.')

  const wrappingKey = ({ id, key }: RingKey, owner: string, keyShare: Uint8Array) =>
    new Uint8Array(hkdfSync('sha256', key, keyShare, `annal\nwrap-for\n${id}\n${owner}`, 32))

  return {
    ...keyShares,
    ring,
    async wrap(dataKey: Uint8Array, context: string) {
      const { id, key } = ring.current()
      return { keyId: id, wrapped: seal(key, dataKey, `${id}\n${context}`) }
    },
    /** Throws LostKeyError if `keyId` did not wrap the bytes for this context. */
    async unwrap(keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array> {
      return unseal(ring.find(keyId).key, wrapped, `${keyId}\n${context}`)
    },
    /** Wraps a key for an owner. Creates the owner's key share if there is none. Throws LostKeyError for a deleted owner. */
    async wrapFor(owner: string, dataKey: Uint8Array, context: string) {
      const keyShare = await findOrCreate(owner)
      const current = ring.current()
      const wrapped = seal(wrappingKey(current, owner, keyShare), dataKey, `${current.id}\n${context}`)
      return { keyId: current.id, wrapped }
    },
    /** Throws LostKeyError as `unwrap` does, and if the owner's key share was destroyed. */
    async unwrapFor(owner: string, keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array> {
      const keyShare = await find(owner)
      if (!keyShare)
        throw new LostKeyError(`The key vault holds no key share for ${owner}.`, { isForGood: await isDeleted(owner) })
      return unseal(wrappingKey(ring.find(keyId), owner, keyShare), wrapped, `${keyId}\n${context}`)
    },
    /** Derives a 32-byte key for one purpose, such as signing links. Key rotations do not change it. */
    derive: (purpose: string): Uint8Array => expand(root, purpose),
  }
}
