/** Files with hostile manifests. `SEED=… RUNS=… npm run test:processes -- hostile-manifests` tries other changes of `manifest.webp`. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { reportBounds } from '../../src/modules/assets/content-credentials.graphql.ts'
import corpus from '../api/fuzz/manifests.json' with { type: 'json' }
import { atEnd } from '../support/at-end.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { bombed, boxesIn, cborBombs, withLength, withRemoteManifest } from '../support/hostile-manifests.ts'
import { listen } from '../support/listen.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp } from '../support/test-app.ts'

/** One change of the file. Positions are millionths of its length. */
type Change =
  | { flip: number; mask: number }
  | { insert: number; hex: string }
  | { cut: number }
  | { box: number; length: number }
  | { bomb: keyof typeof cborBombs }

const whole = readFileSync(join(import.meta.dirname, '../api/fuzz/manifest.webp'))
const app = await createTestApp({ env: { LIMITS: 'upload=1000000' } })
const user = await app.newUser({ num: '1000' })
const seed = Number.parseInt(process.env.SEED ?? '38', 16)
const numRuns = Number(process.env.RUNS ?? 4)

function change(file: Buffer, how: Change): Buffer {
  const at = (part: number) => Math.min(file.length - 1, Math.floor((part / 1e6) * file.length))
  if ('cut' in how) return file.subarray(0, Math.max(16, at(how.cut)))
  if ('insert' in how) {
    const place = Math.max(16, at(how.insert))
    return Buffer.concat([file.subarray(0, place), Buffer.from(how.hex, 'hex'), file.subarray(place)])
  }
  if ('box' in how) {
    const boxes = boxesIn(file, 'jumb', 'jumd', 'cbor', 'json')
    return boxes.length === 0 ? file : withLength(file, boxes[Math.floor((how.box / 1e6) * boxes.length)]!, how.length)
  }
  if ('bomb' in how) return bombed(file, cborBombs[how.bomb])
  const copy = Buffer.from(file)
  copy[Math.max(16, at(how.flip))]! ^= how.mask
  return copy
}

const place = fc.nat(999_999)
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    fc.record({ flip: place, mask: fc.integer({ min: 1, max: 255 }) }),
    fc.record({
      insert: place,
      hex: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    }),
    fc.record({ cut: place }),
    fc.record({ box: place, length: fc.oneof(fc.nat(64), fc.constantFrom(0x7fffffff, 0xffffffff, 9_000)) }),
  ),
  { minLength: 1, maxLength: 3 },
)

async function take(bytes: Uint8Array, type: string) {
  const errors = app.log.lines.length
  const asset = await user.register({ asset_file: new File([new Uint8Array(bytes)], 'sent', { type }) })
  await app.jobs.manifest({ assetId: asset.uuid })
  const reported = expectOk(await user.rest('GET', `assets/${asset.id}/content-credentials/`)).content_credentials
  const copy = await user.rest('GET', `assets/${asset.id}/c2pa/`)
  if (copy.status !== 200) expectError(copy, 'VALIDATION_FAILED')
  expect(app.log.lines.slice(errors).filter(({ level }) => level === 'error')).toEqual([])
  expect(JSON.stringify(reported).length).toBeLessThan(50 * reportBounds.text)
  return { reported, copy, asset }
}

async function assertTaken(how: readonly Change[]) {
  const changed = how.reduce(change, Buffer.from(whole))
  const { reported } = await take(Buffer.concat([changed, Buffer.from(crypto.randomUUID())]), 'image/webp')
  expect([null, 'VALID', 'INVALID', 'UNREADABLE']).toContain(reported === null ? null : reported.state)
}

describe('hostile manifests', () => {
  it.each(corpus as Change[][])('a file with a hostile manifest is processed safely: %j', (...how) =>
    assertTaken(how.flat()),
  )

  it('a manifest with any changed bytes is processed safely', async () => {
    await fc.assert(fc.asyncProperty(changes, assertTaken), { seed, numRuns, endOnFailure: true })
  })

  it('reports the URL of a remote manifest without fetching the manifest', async () => {
    const asked = vi.fn()
    const server = createServer((_, res) => {
      asked()
      res.end()
    })
    const port = await listen(server, atEnd)
    const picture = Buffer.from(await (await newPicture({ width: 40, height: 30 })).arrayBuffer())
    const url = `http://127.0.0.1:${port}/manifest.c2pa`
    const { reported, copy } = await take(withRemoteManifest(picture, url), 'image/jpeg')
    expect(reported).toMatchObject({ state: 'REMOTE', remote_manifest_url: url })
    expect([asked.mock.calls.length, copy.status]).toEqual([0, 200])
  })

  it('does not read a manifest in a file above fifty megabytes, and reports the limit', async () => {
    const { asset } = await take(Buffer.concat([whole, Buffer.from('a larger one')]), 'image/webp')
    await app.sql('update assets set file_size = 250000000, content_credentials = null where id = $1::uuid', [
      asset.uuid,
    ])
    const read = vi.spyOn(app.context.contentCredentials, 'read')
    onTestFinished(() => read.mockRestore())
    await app.jobs.manifest({ assetId: asset.uuid })
    expect(read).not.toHaveBeenCalled()
    const refused = expectError(await user.rest('GET', `assets/${asset.id}/c2pa/`), 'VALIDATION_FAILED')
    expect(refused.body.error.message).toContain('at most 50 MB')
  })
})
