/**
 * Reads the manifest of the untrusted file on stdin, or writes a manifest into the file. Writes the result to stdout:
 * nothing if the file has no manifest. The separate process keeps crashes and memory use away from keys and requests.
 * The process has no private key. The parent process signs the claim.
 */
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { initSync, WasmBuilder, WasmReader } from '@contentauth/c2pa-wasm'
import type { ManifestRequest } from '../../files/file-types.ts'

export interface ManifestOrder {
  /** MIME type of the file, detected from its bytes. */
  format: string
  /** Trusted certificates in PEM format. */
  trustList?: string | undefined
  /** The manifest to write, and the bytes to reserve for its signature. Undefined: the file is only read. */
  write?: Omit<ManifestRequest, 'format'> & { algorithm: string; reserve: number }
}

/** Exit code for a file that cannot be processed. */
const UNREADABLE = 2

/** A Blob for the synchronous reader of the library. */
class MemoryBlob extends Blob {
  readonly content: Uint8Array
  constructor(content: Uint8Array) {
    super([])
    this.content = content
  }
  override get size() {
    return this.content.length
  }
  override slice(from = 0, to = this.content.length) {
    return new MemoryBlob(this.content.subarray(from, to))
  }
}

class FileReaderSync {
  readAsArrayBuffer({ content }: MemoryBlob) {
    return content.slice().buffer
  }
}

// Network access is forbidden. Without a `fetch` function, the library would crash instead of failing one check.
const fetch = () => Promise.reject(new TypeError('Network access is disabled.'))
Object.assign(globalThis, { FileReaderSync, fetch })

/** With both codes, the library ignores the time stamp and does not check the signature. */
const EXPIRED_WITH_UNTRUSTED_TIME_STAMP = ['signingCredential.expired', 'timeStamp.untrusted']

const verify = { remote_manifest_fetch: false, ocsp_fetch: false, verify_after_reading: true, verify_after_sign: true }
const settingsOf = ({ trustList }: ManifestOrder, changes: { verify_timestamp_trust?: false } = {}) =>
  JSON.stringify({
    verify: { ...verify, ...changes },
    builder: { thumbnail: { enabled: false } },
    ...(trustList && { trust: { trust_anchors: trustList } }),
  })

const nextMessage = <Message>() => new Promise<Message>((resolve) => process.once('message', resolve))

async function signatureOf(claim: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const response = nextMessage<{ signature: string }>()
  process.send!({ claim: Buffer.from(claim).toString('base64') })
  return new Uint8Array(Buffer.from((await response).signature, 'base64'))
}

/** Returns the report of `c2pa-rs` or the URL of a remote manifest, as JSON, or undefined. */
async function read(order: ManifestOrder, file: Uint8Array): Promise<string | undefined> {
  const readBy = async (settings: string) => (await WasmReader.fromBytes(order.format, file, settings)).json()
  try {
    const report = await readBy(settingsOf(order))
    if (!EXPIRED_WITH_UNTRUSTED_TIME_STAMP.every((code) => report.includes(`"${code}"`))) return report
    const withTimeStamp = JSON.parse(await readBy(settingsOf(order, { verify_timestamp_trust: false })))
    return JSON.stringify({ ...withTimeStamp, is_time_stamp_unchecked: true })
  } catch (error) {
    if (/JumbfNotFound/.test(String(error))) return undefined
    const url = /RemoteManifestUrl\("(.*)"\)/s.exec(String(error))?.[1]
    if (url !== undefined) return JSON.stringify({ remote_manifest_url: url })
    throw error
  }
}

async function write(order: ManifestOrder, writing: NonNullable<ManifestOrder['write']>, file: Uint8Array) {
  const hasManifest = (await read(order, file)) !== undefined
  const manifest = { ...(hasManifest ? writing.following : writing.first), format: order.format }
  const builder = WasmBuilder.fromJson(JSON.stringify(manifest), settingsOf(order))
  // Adds the original file with its manifest as an ingredient, and an "opened" action.
  if (hasManifest || !writing.firstIsOrigin) builder.setIntent('edit')
  const signer = { sign: signatureOf, reserveSize: writing.reserve, alg: writing.algorithm }
  return builder.sign(signer, [], order.format, new MemoryBlob(file))
}

async function main() {
  const order = await nextMessage<ManifestOrder>()
  const file = new Uint8Array(await buffer(process.stdin))
  const outcome = order.write ? await write(order, order.write, file) : await read(order, file)
  if (outcome !== undefined) process.stdout.write(outcome)
  process.disconnect()
}

// This is outside the error handler: a missing library must not be reported as an unreadable file.
initSync({ module: readFileSync(fileURLToPath(import.meta.resolve('@contentauth/c2pa-wasm/c2pa.wasm'))) })
// The library may also throw outside of awaited calls.
process.on('uncaughtException', () => process.exit(UNREADABLE))
main().catch((error: unknown) => {
  process.stderr.write(String(error))
  process.exitCode = UNREADABLE
  process.disconnect()
})
