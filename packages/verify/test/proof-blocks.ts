/** Splits a proof into its blocks and rebuilds it, so that tests can alter it. */
import { createHash } from 'node:crypto'
import { CarReader } from '@ipld/car/reader'
import { CarWriter } from '@ipld/car/writer'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { CODES, type Manifest } from '../src/read-proof.ts'

export interface Block {
  cid: CID
  bytes: Uint8Array
}

export async function blocksOf(car: Uint8Array): Promise<Block[]> {
  const blocks: Block[] = []
  for await (const block of (await CarReader.fromBytes(car)).blocks()) blocks.push(block)
  return blocks
}

export async function carOf(all: readonly Block[]): Promise<Uint8Array> {
  const { writer, out } = CarWriter.create([all[0]!.cid])
  const writing = (async () => {
    for (const block of all) await writer.put(block)
    await writer.close()
  })()
  const parts: Uint8Array[] = []
  for await (const part of out) parts.push(part)
  await writing
  return Buffer.concat(parts)
}

export const manifestOf = ([first]: readonly Block[]) => JSON.parse(Buffer.from(first!.bytes).toString()) as Manifest

export function withManifest(blocks: readonly Block[], change: (manifest: Manifest) => unknown): Block[] {
  const manifest = manifestOf(blocks)
  change(manifest)
  const bytes = Buffer.from(JSON.stringify(manifest))
  const cid = CID.createV1(CODES.dagJson, create(0x12, createHash('sha256').update(bytes).digest()))
  return [{ cid, bytes }, ...blocks.slice(1)]
}
