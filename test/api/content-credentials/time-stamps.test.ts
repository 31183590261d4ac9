import { createServer } from 'node:http'
import { expect, it, vi } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { listen } from '../../support/listen.ts'
import { readManifests } from '../../support/manifests.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'

const asked = vi.fn()
const authority = createServer((req, res) => {
  asked()
  req.resume()
  res.writeHead(500).end()
})
const app = await createTestApp({ env: { C2PA_TIMESTAMP_URL: `http://127.0.0.1:${await listen(authority, atEnd)}/` } })

it('signs files without a time stamp if the time stamp authority fails, and pauses requests to the authority', async () => {
  const user = await app.newUser({ num: '10' })
  const register = async () => (await user.register({ asset_file: await newPicture({ width: 40, height: 30 }) })).id
  const [first, second] = [await register(), await register()]
  const c2pa = async (nid: string) => {
    const answer = await user.rest('GET', `assets/${nid}/c2pa/`)
    expect([answer.status, answer.text.slice(0, 100)]).toMatchObject([200, expect.anything()])
    const { state, manifest } = await readManifests(answer.bytes, 'image/jpeg')
    expect([state, manifest.signature_info.time]).toEqual(['Valid', undefined])
    return answer.headers.get('etag')
  }
  const made = await c2pa(first)
  expect(asked).toHaveBeenCalledOnce()
  expect([await c2pa(first), typeof (await c2pa(second))]).toEqual([made, 'string'])
  expect(asked).toHaveBeenCalledOnce()
  expect(app.log.lines.filter(({ message }) => message?.includes('Time-stamping authority'))).toHaveLength(1)
  // During the pause, files without a time stamp are valid. Afterwards they are signed again.
  const { contentCredentials } = app.context
  expect(contentCredentials.signedBy()).toHaveLength(2)
  const real = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + 601_000)
  const later = contentCredentials.signedBy()
  clock.mockRestore()
  expect(later).toHaveLength(1)
})
