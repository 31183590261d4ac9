import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { askForStamp, STAMP_BYTES } from '../../../src/modules/content-credentials/signing-identity.ts'
import { atEnd } from '../../support/at-end.ts'
import { listen } from '../../support/listen.ts'

const PIECE = Buffer.alloc(16_384)
const WHOLE = 100_000_000

it('stops reading a response at the maximum length of a token', async () => {
  let sent = 0
  const authority = createServer((req, res) => {
    req.resume()
    const send = () => {
      while (sent < WHOLE && !res.destroyed) {
        sent += PIECE.length
        if (!res.write(PIECE)) return void res.once('drain', send)
      }
      res.end()
    }
    send()
  })
  const port = await listen(authority, atEnd)
  const asked = askForStamp(`http://127.0.0.1:${port}/`, Buffer.from('signed'))
  await expect(asked).rejects.toThrow(`answered with more than ${STAMP_BYTES} bytes`)
  expect(sent).toBeLessThan(WHOLE)
})
