import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { initSync, WasmReader } from '@contentauth/c2pa-wasm'
import { decode } from 'cborg'

let isReady = false

export async function readManifests(file: Uint8Array, format: string, anchors?: string) {
  if (!isReady)
    initSync({ module: readFileSync(fileURLToPath(import.meta.resolve('@contentauth/c2pa-wasm/c2pa.wasm'))) })
  isReady = true
  const settings = {
    verify: { remote_manifest_fetch: false, ocsp_fetch: false },
    ...(anchors && { trust: { trust_anchors: anchors } }),
  }
  const reader = await WasmReader.fromBytes(format, new Uint8Array(file), JSON.stringify(settings))
  const report = JSON.parse(reader.json())
  reader.free()
  const manifest = report.manifests[report.active_manifest]
  const assertions = Object.fromEntries(
    manifest.assertions.map(({ label, data }: Record<string, never>) => [label, data]),
  )
  return { report, manifest, assertions, state: report.validation_state, count: Object.keys(report.manifests).length }
}

export function hashFits(file: Buffer): boolean {
  const label = file.lastIndexOf('c2pa.hash.data\0')
  const box = file.indexOf('cbor', label)
  const end = box - 4 + file.readUInt32BE(box - 4)
  const { exclusions, alg, hash } = decode(file.subarray(box + 4, end)) as {
    exclusions: { start: number; length: number }[]
    alg: string
    hash: Uint8Array
  }
  const digest = createHash(alg)
  let at = 0
  for (const { start, length } of exclusions) {
    digest.update(file.subarray(at, start))
    at = start + length
  }
  return digest.update(file.subarray(at)).digest().equals(hash)
}
