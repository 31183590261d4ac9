/**
 * A real server for S3, versitygw (https://github.com/versity/versitygw): it asks for signatures, holds objects against their checksums, lets links
 * expire, and keeps objects as files, whose age tests can set. Built once from its sources, whose hashes Go knows.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'

const VERSION = 'v1.8.0'
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/annal-s3', VERSION)
export const BUCKET = 'files'
export const KEY_ID = 'annal-tests'
export const SECRET = 'a-secret-that-nobody-must-read'

const carryOut = promisify(execFile)

const install = async () => {
  if (process.env.VERSITYGW) return process.env.VERSITYGW
  const program = join(FOLDER, 'versitygw')
  if (existsSync(program)) return program
  await mkdir(FOLDER, { recursive: true })
  const env = { ...process.env, GOBIN: FOLDER }
  await carryOut('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], { env }).catch((error) => {
    const said = (error as { stderr?: string }).stderr ?? ''
    throw new Error(
      `npm run test:ecosystem -- s3 builds versitygw ${VERSION}: it needs Go (https://go.dev/dl) and its module proxy, or VERSITYGW=<path of the program>. ${said}`,
    )
  })
  return program
}

export const startS3Server = async () => {
  process.env.AWS_ACCESS_KEY_ID = KEY_ID
  process.env.AWS_SECRET_ACCESS_KEY = SECRET
  const program = await install()
  const dir = await mkdtemp(join(tmpdir(), 'annal-s3-'))
  const [objects, meta] = [join(dir, 'objects'), join(dir, 'meta')]
  await mkdir(join(objects, BUCKET), { recursive: true })
  await mkdir(meta)
  const address = `127.0.0.1:${await findFreePort()}`
  const url = `http://${address}`
  let server: ChildProcess | undefined

  const start = async (secret = SECRET) => {
    const args = [
      '--port',
      address,
      '--quiet',
      '--keep-alive',
      '--health',
      '/health',
      'posix',
      '--sidecar',
      meta,
      objects,
    ]
    const env = { PATH: process.env.PATH, ROOT_ACCESS_KEY: KEY_ID, ROOT_SECRET_KEY: secret }
    server = spawn(program, args, { env, stdio: 'ignore' })
    const isUp = () =>
      fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually(isUp, Boolean, 60_000)
  }
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  const files = async () =>
    (await readdir(join(objects, BUCKET), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  await start()
  return {
    url,
    env: { S3_BUCKET: BUCKET, S3_ENDPOINT: url },
    start,
    kill,
    freeze: () => void server!.kill('SIGSTOP'),
    thaw: () => void server!.kill('SIGCONT'),
    blocks: async () => (await files()).filter((file) => file.endsWith('.data')),
    async age(seconds: number) {
      for (const file of await files()) {
        const then = new Date((await stat(file)).mtimeMs - seconds * 1_000)
        await utimes(file, then, then)
      }
    },
    hide: () => rename(join(objects, BUCKET), join(dir, 'hidden')),
    show: () => rename(join(dir, 'hidden'), join(objects, BUCKET)),
    async stop() {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
