/** Values that users and programs send accidentally or on purpose, as fast-check arbitraries. */
import fc from 'fast-check'

/** JSON text that no JavaScript value can represent. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Returns JSON text. Lone surrogates are escaped, and raw texts stay unchanged. */
export function toJson(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${toJson(item)}`)
      .join(',')}}`
  }
  return JSON.stringify(value ?? null)
}

/** Returns a value as text for a form field. */
export const toText = (value: unknown): string => (typeof value === 'string' ? value : toJson(value))

const uuid = '01980000-0000-7000-8000-000000000001'

export const knownTexts: readonly string[] = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udc00y',
    '\ud83d',
    '\u0001\u0002',
    '\x7f\x85\x9f',
    '\u202e\u2066abc',
    '\u200b\u200d\ufeff',
  ],
  ...[
    '\r\n\r\n',
    'a\r\nSet-Cookie: a=b',
    '\t',
    '"',
    "'",
    '`;--',
    "' OR 1=1 --",
    '\\',
    '\\u0000',
    '%',
    '%00',
    '%ff',
    '{7*7}',
  ],
  ...[
    '../../etc/passwd',
    'C:\\x',
    '<script>alert(1)</script>',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '-1',
    '-0',
    '1e5',
    '0x10',
  ],
  ...['9'.repeat(40), '9007199254740993', `0.${'1'.repeat(40)}`, '0'.repeat(50), 'null', 'true', 'undefined'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'x'.repeat(5_000),
    'é'.repeat(300),
    '😀'.repeat(300),
  ],
  ...[
    'e\u0301'.repeat(40),
    'ﷺ'.repeat(21),
    '2026-13-45T99:99:99Z',
    '+275760-09-13T00:00:00.001Z',
    '-271821-04-20T00:00:00Z',
    '0000-00-00',
  ],
  ...[
    '9999-12-31T23:59:59.999999999Z',
    '2100-01-01T00:00:00Z',
    'http://[::1',
    'https://user:pass@x',
    'javascript:1',
    'https://\ud800.example',
  ],
  ...[
    'https://example.org/\0',
    `https://${'a'.repeat(3_000)}.example/`,
    'a@b',
    'a@b@c.example',
    'ａ＠ｂ.example',
    'a@bücher.example',
    '@',
  ],
  ...[
    'user_7zzzzzzzzzzzzzzzzzzzzzzzzz',
    'user_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    'order_00000000000000000000000000',
    'app_',
    '_',
    uuid,
  ],
  ...[
    `bafkrei${'a'.repeat(52)}`,
    `bafkrei${'z'.repeat(52)}`,
    `bafybei${'7'.repeat(52)}`,
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWAPn2q',
  ],
  ...[`GPC:S:${uuid}`, 'GPC:S:x', 'GPC:N:9e99', 'GPC:D:9e99', `GPC:T:["S:${uuid}","N:1"]`, 'GPC:T:[]'].map((text) =>
    Buffer.from(text).toString('base64'),
  ),
  ...[
    '0'.repeat(64),
    'g'.repeat(64),
    '*',
    'W/"',
    '"',
    'zh-tw',
    'en-us-x-\u0000',
    'image/png\r\nX: y',
    'application/json; charset=\ud800',
  ],
  ...[
    '{',
    '{}',
    '[]',
    '{"a":',
    '"a"',
    '{"a":1e400}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0000"}',
    '{"__proto__":{"a":1}}',
    '{"":{"":[]}}',
  ],
  ...[
    '[{"assetTreeCid":"x","timestampCreated":1e400}]',
    `${'['.repeat(4_000)}${']'.repeat(4_000)}`,
    `{"a":${'9'.repeat(500)}}`,
  ],
]

/** Any Unicode character. The arbitrary of fast-check takes a second to build its table. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

export const hostileText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...knownTexts) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
      .map((units) => String.fromCharCode(...units)),
  },
)

const nested = (levels: number, open: string, close: string) =>
  new RawJson(`${open.repeat(levels)}1${close.repeat(levels)}`)
const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))

export const knownJson: readonly unknown[] = [
  ...[
    '9007199254740993',
    '1e400',
    '-1e400',
    '-0',
    '0.1',
    '1e-400',
    '2147483648',
    '-2147483649',
    '1.5',
    '0',
    '-1',
    '9'.repeat(400),
  ].map((text) => new RawJson(text)),
  ...[
    null,
    true,
    false,
    [],
    {},
    [null],
    [[]],
    [[[]]],
    ['a', 'b'],
    { a: 1 },
    [{}],
    { '': 1 },
    { a: null },
    { '\0': 1 },
    { '\ud800': 1 },
  ],
  ...[
    nested(16, '{"a":', '}'),
    nested(17, '{"a":', '}'),
    nested(4_000, '{"a":', '}'),
    nested(4_000, '[', ']'),
    nested(40, '[{"a":', '}]'),
  ],
  ...[
    wide(300),
    Array(2_000).fill(0),
    Array(12_000).fill(0),
    { constructor: { prototype: {} } },
    { toString: 1, valueOf: {} },
  ],
  ...[
    new RawJson('{"__proto__":{"a":1}}'),
    new RawJson('{"a":{"__proto__":[]}}'),
    new RawJson('{"a":1,"a":2}'),
    { toJSON: 1 },
  ],
  ...[
    { length: -1 },
    new RawJson('{"then":"x"}'),
    { kind: 'StringValue' },
    { a: new RawJson('1.0000000000000000001') },
    { a: ['x\udfff'] },
  ],
]

/** All known hostile values. */
export const knownValues: readonly unknown[] = [...knownJson, ...knownTexts]

export const hostileJson = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...knownJson) },
  { weight: 5, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.dictionary(hostileText, hostileText, { maxKeys: 4 }) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
)
