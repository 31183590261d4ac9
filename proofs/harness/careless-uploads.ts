/** The control: a reader of uploads that forgets the file when its form breaks off, and takes the sender's word for its name. */
import { createWriteStream, mkdirSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { listen } from '../../test/support/listen.ts'
import type { ProofContext } from './proof.ts'

/** Answers on any path, and writes below `dir`. Returns its URL. */
export async function startCarelessUploads(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  dir: string,
): Promise<string> {
  const server = createServer((req, res) => {
    const parser = new Busboy({ headers: req.headers as never, preservePath: true })
    const writing: Promise<void>[] = []
    parser.on('file', (_name: string, bytes: BusboyFileStream, filename: string) => {
      mkdirSync(dir, { recursive: true })
      const written = pipeline(bytes, createWriteStream(join(mkdtempSync(join(dir, 'upload-')), filename)))
      written.catch(() => {})
      writing.push(written)
    })
    const settle = (status: number) =>
      Promise.allSettled(writing).then(() => res.writeHead(status, { 'Content-Length': 0 }).end())
    parser.once('finish', () => void settle(200))
    parser.on('error', () => void settle(400))
    req.once('close', () => {
      if (!req.complete) parser.destroy(new Error('the body ended too early'))
    })
    req.on('error', () => {})
    req.pipe(parser)
  })
  return `http://127.0.0.1:${await listen(server, afterwards)}`
}
