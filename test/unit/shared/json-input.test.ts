import { describe, expect, it } from 'vitest'
import { describeProblem, findProblem, isDeeper, isExact, parseJson } from '../../../src/shared/input.ts'

const nested = (levels: number, inner: unknown = 1) => {
  let value = inner
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }
  return value
}
const problemOf = (value: unknown) => {
  const problem = findProblem(value)
  return problem && describeProblem(problem)
}

describe('numbers in JSON', () => {
  it.each(
    `0 -0 0.0 0e999 1 -1 1.0 1.50 0.1 100 1e2 1E+2 12.5e-1 9007199254740991 9007199254740992 9007199254740994 1e21
    123456789012345680000 1e308 5e-324 1.7976931348623157e308 0.30000000000000004 1000000000000000000000000
    0.00001e-5 1e00000000000000000002`.split(/\s+/),
  )('accepts the exact number %s in JSON', (literal) => {
    expect(isExact(literal)).toBe(true)
    expect(problemOf(parseJson(`{"a":[${literal}]}`))).toBeUndefined()
  })

  it.each(
    `9007199254740993 -9007199254740993 1e400 -1e400 1e-400 1.0000000000000000001 0.1000000000000000055
    12345678901234567890 0.12345678901234567890 1.7976931348623159e308 4e-324 9007199254740993.0
    1e99999999999999999999 1e-99999999999999999999 1${'0'.repeat(400)}`.split(/\s+/),
  )('rejects the inexact number %s in JSON, and reports its position', (literal) => {
    expect(isExact(literal)).toBe(false)
    for (const text of [`{"a":{"b":[0,${literal}]}}`, `{"a": {"b": [0, ${literal} ]}}`])
      expect(problemOf(parseJson(text))).toMatch(/^At a\.b\[1\]: This number cannot be stored/)
    expect(problemOf(parseJson(literal))).toMatch(/^This number/)
  })

  it('ignores numbers inside JSON strings', () => {
    const text = '{"a":"12345678901234567890","b":" 1e400","12345678901234567890":"[ 9007199254740993"}'
    expect(problemOf(parseJson(text))).toBeUndefined()
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })
})

describe('JSON input', () => {
  it('limits JSON to sixteen levels of nesting', () => {
    expect(problemOf(nested(16))).toBeUndefined()
    expect(problemOf(nested(17))).toMatch(/nested no more than 16 levels deep\.$/)
    expect(isDeeper(nested(16), 16)).toBe(false)
    expect(isDeeper(nested(17), 16)).toBe(true)
  })

  it('checks JSON of any depth and width without a stack overflow', () => {
    expect(problemOf(parseJson(`${'{"a":'.repeat(200_000)}1e400${'}'.repeat(200_000)}`))).toMatch(/16 levels/)
    expect(problemOf(parseJson(`[${'1,'.repeat(200_000)}1e400]`))).toMatch(/^At \[200000\]: /)
  })

  it.each([
    [{ a: 'x\0' }, 'At a: Null characters are not allowed.'],
    [{ a: [{ b: 'x\ud800' }] }, /^At a\[0\]\.b: Unpaired surrogates/],
    [{ a: { 'x\ud800': 1 } }, /^At a: Unpaired surrogates/],
    [{ 'x\0': 1 }, 'Null characters are not allowed.'],
    [JSON.parse('{"a":{"__proto__":{}}}'), 'At a: A key may not be "__proto__".'],
    ['\udc00\ud800', /^Unpaired/],
  ])('rejects the JSON value %j', (value, reported) => expect(problemOf(value)).toMatch(reported))

  it.each([
    [{ a: 'Zoë 😀 日本語 \u200d\u202e\u0007\ufffe', constructor: 1, toString: null, '': [] }],
    [null],
    [[[], {}, true, false, 0.5]],
  ])('accepts the JSON value %j', (value) => expect(problemOf(value)).toBeUndefined())

  it('reports the position of a JSON problem in at most 100 Unicode characters', () => {
    const reported = problemOf({ [`${'😀'.repeat(60)}`]: 'x\0' })!
    expect(reported.isWellFormed()).toBe(true)
    expect(reported.length).toBeLessThan(160)
  })
})
