/** What a gateway would leave behind that does not take care, made without the forms that are looked for. */
import { inspect } from 'node:util'
import type { Canary } from './canaries.ts'

/** Lines and values by the kind of carelessness. */
export function* leaksOf({ text, bytes }: Canary): Generator<[string, Buffer]> {
  const body = JSON.stringify({ email: 'a@example.org', password: text })
  const line = (value: unknown) => Buffer.from(JSON.stringify({ level: 20, time: 0, value }))
  yield ['a body', line(body)]
  yield ['an object', line({ deep: [{ password: text }] })]
  yield ['a form', line(new URLSearchParams({ password: text }).toString())]
  yield ['an address', line(`/api/v3/auth/?token=${encodeURIComponent(text)}`)]
  yield ['a header', line({ authorization: `token ${text}` })]
  for (const user of ['', 'u', 'us', 'use']) {
    const pair = Buffer.from(`${user}:${text}:`)
    yield [`base64 after ${user.length + 1}`, line(pair.toString('base64'))]
    yield [`base64url after ${user.length + 1}`, line(pair.toString('base64url'))]
  }
  yield ['shouted', line(text.toUpperCase())]
  for (const [name, value] of Object.entries({ text: Buffer.from(text), ...(bytes && { bytes }) })) {
    yield [`${name} in hex`, line(value.toString('hex'))]
    yield [`${name} in HEX`, line(`0x${value.toString('hex').toUpperCase()}`)]
    yield [`${name} in base64`, line(value.toString('base64'))]
    yield [`${name} as a buffer`, line({ value })]
    yield [`${name} inspected`, line(inspect(value))]
    yield [`${name} as it is`, Buffer.concat([Buffer.of(0, 1), value, Buffer.of(255)])]
  }
}
