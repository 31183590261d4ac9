/**
 * The part of Kubo's RPC API that the content store uses, over blocks on disk: what `ipfs daemon` answers, with the layout
 * of the profile `test-cid-v1-wide` for whatever a request leaves open.
 */
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { importFile } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import type { CID } from 'multiformats/cid'
import { createBlockDirectory, type PlacedBlock } from '../../../src/files/block-directory.ts'
import { createContentStore } from '../../../src/files/content-store.ts'

export interface KuboCounterpart {
  url: string
  pins: Map<string, string>
  requests: { path: string; query: URLSearchParams }[]
  intercept: (path: string, query: URLSearchParams, res: ServerResponse) => Promise<boolean> | boolean
  stop(): Promise<void>
}

class Refusal extends Error {}

const readPart = (req: IncomingMessage) =>
  new Promise<AsyncIterable<Uint8Array>>((resolve, reject) => {
    const parser = new Busboy({ headers: req.headers as BusboyHeaders })
    parser.once('file', (_, file) => resolve(file))
    parser.once('error', reject)
    req.pipe(parser)
  })

export const startKuboCounterpart = async (dir: string): Promise<KuboCounterpart> => {
  await mkdir(dir, { recursive: true })
  const store = createContentStore({ dir })
  const blocks = createBlockDirectory(dir)
  const pins = new Map<string, string>()

  const add = async (req: IncomingMessage, query: URLSearchParams) => {
    const [, chunkSize] = (query.get('chunker') ?? 'size-1048576').split('-')
    const placed = new Set<PlacedBlock>()
    const put = async (cid: CID, bytes: unknown) => {
      placed.add(await blocks.put(cid, bytes as Uint8Array))
      return cid
    }
    const layout = {
      cidVersion: Number(query.get('cid-version') ?? query.get('cidVersion') ?? 1) as 0 | 1,
      rawLeaves: (query.get('raw-leaves') ?? query.get('rawLeaves')) !== 'false',
      reduceSingleLeafToSelf: true,
      chunker: fixedSize({ chunkSize: Number(chunkSize) }),
      layout: balanced({ maxChildrenPerNode: Number(query.get('max-file-links') ?? 1024) }),
    }
    const { cid, size } = await importFile({ content: await readPart(req) }, { put }, layout)
    await blocks.syncNames(placed)
    if (query.get('pin') !== 'false') pins.set(cid.toString(), query.get('pin-name') ?? '')
    return [{ Name: cid.toString(), Hash: cid.toString(), Size: String(size) }]
  }

  const answers: Record<string, (req: IncomingMessage, query: URLSearchParams, arg: string) => Promise<object[]>> = {
    add,
    version: async () => [{ Version: '0.38.2' }],
    'pin/add': async (_, query, arg) => {
      const cid = arg.replace('/ipfs/', '')
      for await (const _ of store.exportCar(cid));
      pins.set(cid, query.get('name') ?? '')
      return [{ Pins: [cid] }]
    },
    'pin/rm': async (_, __, arg) => {
      if (!pins.delete(arg.replace('/ipfs/', ''))) throw new Refusal('not pinned or pinned indirectly')
      return [{ Pins: [arg] }]
    },
    'pin/ls': async (_, __, arg) => {
      const one = arg.replace('/ipfs/', '')
      if (one && !pins.has(one)) throw new Refusal(`path '${arg}' is not pinned`)
      const found = [...pins].filter(([cid]) => !one || cid === one)
      return found.map(([Cid, Name]) => ({ Cid, Type: 'recursive', Name }))
    },
    'files/stat': async (_, query, arg) => {
      const cid = arg.replace('/ipfs/', '')
      const facts = { Hash: cid, Size: await store.size(cid), CumulativeSize: 0, Blocks: 0, Type: 'file' }
      const isAsked = query.get('with-local') === 'true'
      return [{ ...facts, ...(isAsked && { WithLocality: true, Local: await store.isWhole(cid), SizeLocal: 0 }) }]
    },
  }

  const server = createServer(async (req, res) => {
    const { pathname, searchParams: query } = new URL(req.url!, 'http://kubo')
    const path = pathname.replace('/api/v0/', '')
    const arg = query.get('arg') ?? ''
    counterpart.requests.push({ path, query })
    try {
      if (await counterpart.intercept(path, query, res)) return
      if (path === 'block/get') return void res.end(await store.readBlock(arg))
      if (path === 'cat') {
        const range = { offset: Number(query.get('offset') ?? 0), length: Number(query.get('length') ?? Infinity) }
        for await (const piece of store.read(arg, range)) res.write(piece)
        return void res.end()
      }
      const answer = answers[path]
      if (!answer) return void res.writeHead(404).end()
      const lines = await answer(req, query, arg)
      res.setHeader('content-type', 'application/json')
      res.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    } catch (error) {
      const isKnown = error instanceof Refusal
      const message = isKnown ? error.message : 'block was not found locally (offline): ipld: could not find node'
      if (res.headersSent) return void res.destroy()
      res.writeHead(500, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ Message: message, Code: 0, Type: 'error' }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const counterpart: KuboCounterpart = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pins,
    requests: [],
    intercept: () => false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return counterpart
}
