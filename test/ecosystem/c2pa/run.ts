/**
 * `npm run test:ecosystem -- c2pa`: verifies the Content Credentials of a real gateway with independent readers. They are the reference
 * implementation (c2pa-python), an unrelated one (c2pa-ts), and the web SDK in a browser (c2pa-web). Needs python3 and openssl.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { createGateway } from '../../../proofs/harness/gateway.ts'
import { npmEnvironment } from '../../support/npm-environment.ts'
import { startTimeAuthority } from './time-authority.ts'
import { readInBrowser, type WebReading } from './web-reader.ts'

const readers = join(import.meta.dirname, 'readers')
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, {
    cwd: readers,
    encoding: 'utf8',
    env: npmEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const print = (line: string) => void process.stdout.write(`${line}\n`)

function newFilm(brand: string): Buffer {
  const box = (type: string, ...parts: Buffer[]) => {
    const content = Buffer.concat([Buffer.from(`\0\0\0\0${type}`, 'latin1'), ...parts])
    content.writeUInt32BE(content.length)
    return content
  }
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1_000, 12)
  header.writeUInt32BE(1_000, 16)
  header.writeUInt32BE(1, 96)
  return Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\x02\0${brand}iso2mp41`, 'latin1')),
    box('moov', box('mvhd', header)),
    box('mdat', Buffer.alloc(1_000, Math.random().toString())),
  ])
}

function newSound(type: 'audio/wav' | 'video/avi' | 'audio/mpeg'): Buffer {
  const chunk = (name: string, ...parts: Buffer[]) => {
    const content = Buffer.concat([Buffer.from(`${name}\0\0\0\0`, 'latin1'), ...parts])
    content.writeUInt32LE(content.length - 8, 4)
    return content
  }
  const noise = randomBytes(4_000)
  if (type === 'audio/wav') {
    const format = Buffer.from('0100010044ac00008858010002001000', 'hex')
    return chunk('RIFF', Buffer.from('WAVE'), chunk('fmt ', format), chunk('data', noise))
  }
  if (type === 'video/avi') return chunk('RIFF', Buffer.from('AVI '), chunk('JUNK', noise))
  const frame = Buffer.concat([Buffer.from('fffb9064', 'hex'), noise.subarray(0, 413)])
  return Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1'), frame, frame, frame])
}

async function newStill(brand: string): Promise<Buffer> {
  const file = Buffer.from(await newPicture('avif'))
  file.write(brand, 8, 'latin1')
  return file
}

const newPicture = (format: 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif') =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: { r: Math.random() * 255, g: 90, b: 160 } } })
    .toFormat(format)
    .toBuffer()

interface Report {
  error?: string
  alone: { state: string; codes: string[]; manifests: number }
  trusting: Report['alone'] & { manifest: { signature_info: { time?: string } } }
}
type Validation = { isValid: boolean | null; problems?: string[]; error?: string }

const CONTENT_MARKS: Record<string, string> = {
  ...{ 'image/png': 'IDAT', 'image/webp': 'VP8 ', 'image/tiff': 'II*', 'audio/wav': 'data', 'video/avi': 'JUNK' },
}

function contentAt(bytes: Buffer, type: string): number {
  const mark = CONTENT_MARKS[type]
  return mark === undefined ? bytes.length - 10 : bytes.indexOf(mark) + 20
}

function tampered(bytes: Buffer, type: string): Buffer {
  const copy = Buffer.from(bytes)
  copy[contentAt(bytes, type)]! ^= 1
  return copy
}

function problemsOnTheWeb([alone, trusting, changed]: WebReading[], manifests: number): string[] {
  const registration = trusting?.assertions['org.annal.registration']
  return [
    alone?.state !== 'Valid' && `${alone?.error ?? alone?.state} without the root`,
    !alone?.codes.includes('signingCredential.untrusted') && 'no error for an untrusted signer',
    trusting?.state !== 'Trusted' && `${trusting?.state} with the root`,
    trusting?.manifests !== manifests && `${trusting?.manifests} manifests`,
    trusting?.title !== 'A blue field' && 'no title',
    !/^baf/.test(String(registration?.nid)) && 'no registration',
    !('cawg.metadata' in (trusting?.assertions ?? {})) && 'no metadata',
    changed?.state !== 'Invalid' && `${changed?.error ?? changed?.state} after a byte changed`,
    !changed?.codes.some((code) => /Hash\.mismatch$/.test(code)) && 'no mismatch when a byte was changed',
  ].filter((problem) => problem !== false)
}

const dir = await mkdtemp(join(tmpdir(), 'annal-c2pa-'))
const cleanUps: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })]
let failures = 0
try {
  // Not `npm ci`: a lock file lacks optional packages of other systems, and it demands them.
  run('npm', 'install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts')
  run('python3', '-m', 'venv', '.venv')
  run('.venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt')
  await mkdir(join(dir, 'authority'))
  const authority = await startTimeAuthority(join(dir, 'authority'))
  cleanUps.push(authority.close)
  const afterwards = (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp)
  const signing = await openGateway('gateway', {})
  const stamping = await openGateway('stamping', { C2PA_TIMESTAMP_URL: authority.url })

  async function openGateway(name: string, env: Record<string, string>) {
    const home = join(dir, name)
    await mkdir(home)
    const gateway = await createGateway({ dir: home, afterwards }, name, { ANNAL_DIR: home, PUBLIC_URL: '', ...env })
    cleanUps.push(async () => void (await gateway.stop()))
    await gateway.start()
    const account = { username: 'ada', email: 'ada@example.org', password: 'correct horse battery' }
    const post = async (path: string, body: object) => {
      const options = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
      const answer = await fetch(`${gateway.url}/api/v3/${path}/`, options)
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
      return (await answer.json()) as Record<string, string>
    }
    await post('auth/users', account)
    const { auth_token: token } = await post('auth/token/login', account)
    const headers = { Authorization: `token ${token}` }
    return async (bytes: Uint8Array, type: string, custom: object = {}): Promise<Buffer> => {
      const form = new FormData()
      form.set('asset_file', new File([new Uint8Array(bytes)], 'file', { type }))
      form.set('headline', 'A blue field')
      form.set('nit_commit_custom', JSON.stringify(custom))
      const made = await fetch(`${gateway.url}/api/v3/assets/`, { method: 'POST', headers, body: form })
      if (!made.ok) throw new Error(`${type}: ${made.status} ${await made.text()}`)
      const { id } = (await made.json()) as { id: string }
      const answer = await fetch(`${gateway.url}/api/v3/assets/${id}/c2pa/`, { headers })
      if (!answer.ok) throw new Error(`${type}: ${answer.status} ${await answer.text()}`)
      return Buffer.from(await answer.arrayBuffer())
    }
  }

  const custom = { digitalSourceType: 'digitalCapture', miningPreference: 'notAllowed', license: { name: 'CC-BY-4.0' } }
  const first = await signing(await newPicture('jpeg'), 'image/jpeg', custom)
  const samples: [name: string, type: string, bytes: Buffer][] = [
    ['png', 'image/png', await newPicture('png')],
    ['avif', 'image/avif', await newPicture('avif')],
    ['webp', 'image/webp', await newPicture('webp')],
    ['gif', 'image/gif', await newPicture('gif')],
    ['tiff', 'image/tiff', await newPicture('tiff')],
    ['heic', 'image/heic', await newStill('heic')],
    ['heif', 'image/heif', await newStill('mif1')],
    ['mp4', 'video/mp4', newFilm('isom')],
    ['mov', 'video/quicktime', newFilm('qt  ')],
    ['m4a', 'audio/mp4', newFilm('M4A ')],
    ['avi', 'video/avi', newSound('video/avi')],
    ['mp3', 'audio/mpeg', newSound('audio/mpeg')],
    ['wav', 'audio/wav', newSound('audio/wav')],
  ]
  /** Formats that c2pa-ts reads. */
  const readable = ['jpeg', 'jpeg that was opened', 'jpeg over a manifest', 'png', 'avif', 'heic', 'heif']
  const cases: { name: string; type: string; bytes: Buffer; manifests?: number; stamped?: true }[] = [
    { name: 'jpeg', type: 'image/jpeg', bytes: first },
    { name: 'jpeg that was opened', type: 'image/jpeg', bytes: await signing(await newPicture('jpeg'), 'image/jpeg') },
    {
      name: 'jpeg over a manifest',
      type: 'image/jpeg',
      bytes: await signing(first, 'image/jpeg', custom),
      manifests: 2,
    },
  ]
  for (const [name, type, bytes] of samples) cases.push({ name, type, bytes: await signing(bytes, type, custom) })
  // c2pa-ts does not read the time stamps of C2PA 2.
  const stamped = await stamping(await newPicture('jpeg'), 'image/jpeg', custom)
  cases.push({ name: 'jpeg with a time stamp', type: 'image/jpeg', bytes: stamped, stamped: true })
  const rootOf = async (name: string) => {
    const pem = await readFile(join(dir, name, 'keys/content-credentials-development.pem'), 'utf8')
    return pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE'))
  }
  const anchors = [await rootOf('gateway'), await rootOf('stamping'), authority.root].join('\n')
  await writeFile(join(dir, 'anchors.pem'), anchors)
  const paths = cases.map((_, at) => join(dir, `file-${at}`))
  for (const [at, { bytes }] of cases.entries()) await writeFile(paths[at]!, bytes)
  const named = paths.map((path, at) => `${path}=${cases[at]!.type}`)
  const reference: Report[] = JSON.parse(run('.venv/bin/python', 'read.py', join(dir, 'anchors.pem'), ...named))
  const independent: Validation[] = JSON.parse(run(process.execPath, 'read.js', ...paths))
  const { readings, foreign } = await readInBrowser(
    cases.flatMap(({ type, bytes }) => [
      { type, bytes },
      { type, bytes, anchors },
      { type, bytes: tampered(bytes, type), anchors },
    ]),
  )
  if (foreign.length > 0) {
    failures += 1
    print(`WRONG  requests to other origins, or browser errors: ${foreign.join(', ')}`)
  }
  for (const [at, { name, manifests = 1, stamped }] of cases.entries()) {
    const { error, alone, trusting } = reference[at]!
    const other = independent[at]!
    const onTheWeb = problemsOnTheWeb(readings.slice(at * 3, at * 3 + 3), manifests)
    const right =
      onTheWeb.length === 0 &&
      error === undefined &&
      alone.state === 'Valid' &&
      alone.codes.includes('signingCredential.untrusted') &&
      trusting.state === 'Trusted' &&
      trusting.manifests === manifests &&
      (!stamped ||
        (trusting.codes.includes('timeStamp.trusted') && trusting.manifest.signature_info.time !== undefined)) &&
      (other.isValid === true || !readable.includes(name))
    if (!right) failures += 1
    const judgement =
      other.isValid === null
        ? 'does not read it'
        : (other.error ?? (other.isValid ? 'valid' : other.problems?.join(' ')))
    print(
      `${right ? 'right' : 'WRONG'}  ${name.padEnd(24)} c2pa-python: ${error ?? `${alone.state}, ${trusting.state} with the root`}; c2pa-web: ${onTheWeb.join(', ') || 'valid, trusted with the root, invalid when changed'}; c2pa-ts: ${judgement}`,
    )
  }
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
}
print(failures ? `${failures} are wrong` : 'All are right')
process.exitCode = failures ? 1 : 0
