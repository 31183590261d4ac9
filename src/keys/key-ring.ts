/**
 * Key-encryption keys: the one that wraps now, and earlier ones, which still unwrap. They come from the environment, or
 * lie in files of mode 0600: `key-encryption-key` is the current one, `ring` has a copy of every key that may be needed.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DomainError, LostKeyError } from '../shared/errors.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { createFile, giveToOwner, removeFile, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import type { KeyRing } from './key-types.ts'

/** A key-encryption key, 32 bytes, by its identifier. */
export interface RingKey {
  id: string
  key: Buffer
}

interface Options {
  /** Where the files are. */
  dir: string
  /** 64 hex digits. Undefined: the file, which is made at first start. */
  key: string | undefined
  /** Earlier keys besides those in files, newest first. */
  previousKeys: readonly string[]
  /** Raises UNAVAILABLE when the folder is not that of this installation any more. */
  assertOwn: () => void
}

/** A key that wraps no more must have rested this long before it is destroyed: what a server began with it is then written. Milliseconds. */
const REST_MS = 15 * 60_000
/** How often the file is looked at for a new key. Milliseconds. */
const LOOK_EVERY_MS = 1_000

/** The first of several processes that start at once makes the file; the others take what it made. */
export function readOrCreate(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const aside = `${file}.${randomBytes(6).toString('hex')}`
    writeFileSync(aside, make(), { mode: 0o600, flag: 'wx', flush: true })
    try {
      giveToOwner(aside)
      linkSync(aside, file)
      const folder = openSync(dirname(file), 'r')
      fsyncSync(folder)
      closeSync(folder)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    } finally {
      rmSync(aside)
    }
  }
  return readFileSync(file, 'utf8').trim()
}

const isKey = (hex: string) => /^[0-9a-f]{64}$/i.test(hex)

function toRingKey(hex: string): RingKey {
  if (!isKey(hex)) throw new Error('A key-encryption key is damaged: expected 64 hex digits.')
  const key = Buffer.from(hex, 'hex')
  return { id: `local:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`, key }
}

/** What a file of a key holds. Raises a FixableError. */
function checked(hex: string, file: string): string {
  if (isKey(hex)) return hex
  throw new FixableError(
    `${file} is damaged: it is no key of 64 hex digits.`,
    'Restore ANNAL_DIR/keys from the backup.',
  )
}

const readKey = (file: string) => checked(readFileSync(file, 'utf8').trim(), file)

/** Another one when the file was replaced. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat ? `${stat.ino} ${stat.mtimeMs}` : ''
}

const newKey = () => randomBytes(32).toString('hex')

/** What could not be written into the folder of keys, as an operator can mend it. */
function explainWriting(error: unknown, dir: string): unknown {
  if (!(error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))) return error
  return new FixableError(
    `There is no room for a new key in ${dir}.`,
    'Make room or grow the disk, and rotate again; `annal gc` removes what no asset needs.',
    { cause: error },
  )
}

/** The ring as the vault beside it uses it. */
export interface LocalKeyRing extends KeyRing {
  /** The key that wraps now. */
  current(): RingKey
  /** The key of that id, also one that was made since the ring was read. Raises when there is none. */
  find(id: string): RingKey
  /** Of all keys, the one that was there first. */
  oldest(): RingKey
}

/**
 * Reads the keys, and makes the first one where there is none. Raises an Error when a file is damaged. Its methods raise UNAVAILABLE when the
 * folder was unmounted or exchanged.
 */
export function openKeyRing({ dir, key, previousKeys, assertOwn }: Options): LocalKeyRing {
  const file = join(dir, 'key-encryption-key')
  const ringDir = join(dir, 'ring')
  const copyOf = ({ id }: RingKey) => join(ringDir, id.replace(':', '-'))
  const isOfFiles = key === undefined

  /** Newest first. */
  function read(): [RingKey, ...RingKey[]] {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const hexes = isOfFiles ? [checked(readOrCreate(file, newKey), file)] : [key]
    hexes.push(...previousKeys)
    if (existsSync(ringDir)) {
      // A dot names what a crash left half written.
      const files = readdirSync(ringDir).filter((name) => !name.includes('.'))
      const found = files.map((name) => ({ path: join(ringDir, name), madeAt: statSync(join(ringDir, name)).mtimeMs }))
      hexes.push(...found.sort((a, b) => b.madeAt - a.madeAt).map(({ path }) => readKey(path)))
    }
    // Moving from a file to the environment is a rotation as well.
    if (!isOfFiles && existsSync(file)) hexes.push(readKey(file))
    const keys = new Map(hexes.map(toRingKey).map((each) => [each.id, each]))
    return [...keys.values()] as [RingKey, ...RingKey[]]
  }

  // Looked at before the keys are read: one that comes between is read again rather than missed.
  let version = versionOf(file)
  let keys = read()
  // By the clock that nobody puts back: a key that is not looked for goes on wrapping after it is destroyed.
  let lookedAt = performance.now()

  function reload() {
    // In a folder that was unmounted or exchanged there is no key, or one of another installation.
    assertOwn()
    version = versionOf(file)
    keys = read()
  }

  function current(): RingKey {
    if (isOfFiles && performance.now() - lookedAt > LOOK_EVERY_MS) {
      lookedAt = performance.now()
      if (versionOf(file) !== version) reload()
    }
    return keys[0]
  }

  return {
    current,
    find(id) {
      const isKnown = () => keys.find((each) => each.id === id)
      if (!isKnown()) reload()
      const found = isKnown()
      if (!found) throw new LostKeyError(`The key vault does not hold the key ${id}.`)
      return found
    },
    oldest: () => keys.at(-1)!,

    async ids() {
      reload()
      return { current: keys[0].id, earlier: keys.slice(1).map(({ id }) => id) }
    },

    async renew() {
      reload()
      if (!isOfFiles) return false
      const fresh = toRingKey(newKey())
      try {
        // Both lie in the ring before the current one is replaced: however many do this at once, no key that wrapped is lost.
        for (const each of [keys[0], fresh]) await createFile(copyOf(each), each.key.toString('hex'))
        await replaceFile(file, fresh.key.toString('hex'))
      } catch (error) {
        throw explainWriting(error, dir)
      }
      reload()
      return true
    },

    async destroyEarlier() {
      reload()
      const wait = isOfFiles ? REST_MS - (Date.now() - statSync(file).mtimeMs) : 0
      const filesOf = (each: RingKey) => [
        copyOf(each),
        ...(!isOfFiles && existsSync(file) && toRingKey(readKey(file)).id === each.id ? [file] : []),
      ]
      const doomed = keys.slice(1).filter((each) => filesOf(each).some((path) => existsSync(path)))
      if (doomed.length > 0 && wait > 0) {
        throw new DomainError(
          'CONFLICT',
          `An earlier key rests for ${REST_MS / 60_000} minutes before it is destroyed, because a request may still hold what it wrapped. Try again in ${Math.ceil(wait / 60_000)} minutes.`,
          { retryAfter: Math.ceil(wait / 1_000) },
        )
      }
      for (const path of doomed.flatMap(filesOf)) await removeFile(path)
      // A start that was killed while it made a key left another copy.
      await removeTemporaryFiles(file, Date.now() - REST_MS)
      reload()
      return doomed.map(({ id }) => id)
    },
  }
}
