/** Raw bytes that are not valid HTTP, or are ambiguous, and the responses to them. */
import { talkRaw } from '../../test/support/raw-http.ts'
import type { FuzzAnswer } from './fuzz-judge.ts'
import type { Random } from './random.ts'

const crlf = (...lines: string[]) => lines.join('\r\n')
const post = (path: string, headers: string[], body: string) =>
  crlf(`POST ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${body.length}`, ...headers, '', body)
const json = 'Content-Type: application/json'
const doors = ['/graphql', '/api/v3/auth/token/login/', '/api/v3/assets/', '/healthz']

/** Known requests. Each character is one byte. */
const known: string[] = [
  ...[
    'GET\r\n\r\n',
    '\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'get / http/1.1\r\n\r\n',
    'GET /\0 HTTP/1.1\r\n\r\n',
  ],
  ...[
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET / HTTP/1.1\r\n\r\n',
    'GET  / HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ...[
    'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ...doors.flatMap((path) => [
    ...['a\r\nHost: b', '', ' ', 'a b', 'a/../', '[::1', 'a:99999999', '\xff\xfe', '__proto__'].map((host) =>
      crlf(`GET ${path} HTTP/1.1`, `Host: ${host}`, '', ''),
    ),
    ...[
      '\xff\xfe',
      '%',
      '%00',
      '%ff',
      '//',
      '/..',
      '\\',
      '?\xc0\x80=\0',
      '?__proto__[a]=1&__proto__=2',
      '#x',
      '?'.repeat(20),
      `?${'a=1&'.repeat(3_000)}`,
    ].map((ending) => crlf(`GET ${path}${ending} HTTP/1.1`, 'Host: a', 'Accept: application/json', '', '')),
    ...[
      'A\0: b',
      'A: b\0c',
      ' A: b',
      'A : b',
      ': b',
      'A',
      '__proto__: x',
      'constructor: x',
      'A: \xff\xfe',
      `A: ${'x'.repeat(20_000)}`,
      'Content-Length: 5\r\nContent-Length: 6',
      'Content-Length: -1',
      'Content-Length: 1e3',
      'Content-Length: 99999999999999999999',
      'Content-Length: 3\r\nTransfer-Encoding: chunked',
      'Transfer-Encoding: x',
      'Transfer-Encoding: chunked, identity',
      'Expect: x',
      'Upgrade: x\r\nConnection: Upgrade',
      'Authorization: token \xff',
      'Authorization: token a\r\nAuthorization: token b',
      'Idempotency-Key: \xff',
      'X-Api-Key: \xff.\xfe',
      'If-Match: \xff',
      'Content-Type: \xff/\xff',
      'Content-Type: multipart/form-data; boundary=\xff',
      'Content-Type: application/json; charset=\xff',
      'Range: bytes=\xff',
    ].map((header) => crlf(`POST ${path} HTTP/1.1`, 'Host: a', header, '', 'abc')),
    ...[
      '{"a":"\xff\xfe"}',
      '\xef\xbb\xbf{}',
      '{"__proto__":{"a":1}}',
      '{"a":"\0"}',
      '\0',
      '[]',
      'null',
      '1',
      '"',
      '{"query":"{ me\0 { id } }"}',
      '{"query":1e400}',
      '{"query":["a"],"variables":"b"}',
      '{"query":"{ __typename }","variables":[1]}',
      '{"query":"{ __typename }","operationName":{"a":1}}',
      '{"query":"{ __typename }","extensions":{"persistedQuery":1}}',
      '['.repeat(100_000),
      '{"a":'.repeat(50_000),
    ].flatMap((body) => [post(path, [json], body), post(path, [], body)]),
    ...[
      '--b\r\n',
      '--b--\r\n',
      '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n',
      '--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b--\r\n',
      '--b\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--b--\r\n',
      '--b\r\nContent-Disposition: form-data; name="a"; filename="\0/\xff"\r\nContent-Type: \xff\r\n\r\nx\r\n--b--\r\n',
    ].map((body) =>
      post(path, ['Content-Type: multipart/form-data; boundary=b', 'GraphQL-Require-Preflight: 1'], body),
    ),
    ...[
      '5\r\nabc',
      'zz\r\nabc\r\n0\r\n\r\n',
      '-1\r\n\r\n',
      'ffffffffffffffffff\r\n',
      `1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
      '1\r\na\r\n0\r\nA: \0\r\n\r\n',
    ].map((chunks) => crlf(`POST ${path} HTTP/1.1`, 'Host: a', json, 'Transfer-Encoding: chunked', '', chunks)),
  ]),
]

/** Returns `count` requests: every known one, and copies with a few changed bytes. */
export function rawRequests(count: number, random: Random): Buffer[] {
  const spoilt = Array.from({ length: Math.max(0, count - known.length) }, () => {
    const bytes = Buffer.from(random.pick(known), 'latin1')
    for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
      if (bytes.length > 0)
        bytes[random.below(Math.min(bytes.length, 300))] = random.pick([
          0,
          10,
          13,
          32,
          34,
          58,
          127,
          255,
          random.below(256),
        ])
    }
    return bytes
  })
  return [...known.map((text) => Buffer.from(text, 'latin1')), ...spoilt]
}

/** Time without new bytes after which a response is complete, in milliseconds. */
const PATIENCE = 300

/** Sends bytes on a new connection, and returns the first response. Returns undefined if there was none. */
export async function sendRaw(url: string, bytes: Buffer): Promise<FuzzAnswer | undefined> {
  const { status, head, body } = await talkRaw({ url, pieces: [bytes], end: 'close', patience: PATIENCE })
  const type = /^content-type: ([^\r]*)/im.exec(head)?.[1] ?? ''
  return status === 0 ? undefined : { status, type, text: body }
}
