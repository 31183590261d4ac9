import { describe, expect, it } from 'vitest'
import { createPictureMaker } from '../../src/files/picture-maker.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { longLine, manyScans } from '../support/hostile-pictures.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp } from '../support/test-app.ts'

/** Milliseconds. Generous, because the machine may be busy. */
const PATIENCE_MS = 110_000

const app = await createTestApp()

async function* bytesOf(file: File) {
  yield new Uint8Array(await file.arrayBuffer())
}

describe('small pictures with excessive cost', () => {
  it.each([
    ['a picture with one line that needs more than a gigabyte of memory', longLine],
    ['a progressive picture with four thousand scans', () => manyScans(7_000, 4)],
  ])('rejects a small picture with excessive cost: %s', async (_, make) => {
    const file = make()
    expect(file.size).toBeLessThan(700_000)
    expect(await createPictureMaker({ timeoutMs: PATIENCE_MS }).make(bytesOf(file), [512])).toBeUndefined()
  })
})

it('slow pictures of one account do not delay other accounts', async () => {
  const patch = (user: Awaited<ReturnType<typeof app.newUser>>, profile_picture: File) =>
    user.rest('PATCH', 'auth/users/profile/', { multipart: { profile_picture } })
  const [greedy, other] = [await app.newUser(), await app.newUser()]
  const files = Array.from({ length: 3 }, () => manyScans(4_000))
  let done = 0
  const slow = files.map((file) => patch(greedy, file).finally(() => done++))
  const counted = () => app.sql<{ count: number }>(`select count from limits where key = $1`, [`picture:${greedy.id}`])
  await eventually(counted, ([row]) => row?.count === files.length)
  const profile = expectOk(await patch(other, await newPicture()))
  expect(profile.profile_picture).not.toBeNull()
  expect(done).toBeLessThan(2)
  await Promise.all(slow)
})
