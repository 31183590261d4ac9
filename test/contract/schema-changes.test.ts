import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import {
  brokenPromises,
  isLater,
  keptReleases,
  toldReleases,
  undatedDeprecations,
  untold,
  untoldSinceLastRelease,
} from './schema-changes.ts'

const present = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
/** The schema with a change at the first place of a text; of the type User, where the path says so. */
function withChange(find: string, replace: string, path: string): string {
  const from = path.startsWith('User.') ? present.indexOf('type User implements Node') : 0
  const at = present.indexOf(find, from)
  return present.slice(0, at) + replace + present.slice(at + find.length)
}

const changelog = (breaking: string) => `# Changes

## Unreleased

### For callers

- \`User.username\` is prettier.

${breaking}

## 0.1.0

### Breaking changes

- \`User.address\` was something else once.
`

describe('the schema', () => {
  it('breaks nothing of the last release without telling', async () => {
    expect((await untoldSinceLastRelease()).untold).toEqual([])
  })

  it('gives a date to everything that is deprecated', () => {
    expect(undatedDeprecations(schema)).toEqual([])
  })

  it('of each version that was released is kept', () => {
    expect(toldReleases().filter((version) => !keptReleases().includes(version))).toEqual([])
  })
})

describe('a change that breaks clients', () => {
  it.each([
    ['a field is gone', '  username: String!', '  nickname: String!', 'User.username'],
    ['a field may be null', '  username: String!', '  username: String', 'User.username'],
    ['a value is gone', '  ORDER_EXPIRED\n', '  ORDER_OVER\n', 'ErrorCode.ORDER_EXPIRED'],
    ['a field of an input is needed', 'input SignUpInput {', 'input SignUpInput {\n  age: Int!\n', 'SignUpInput.age'],
  ])('is found, and has to be told: %s', async (_what, find, replace, path) => {
    const broken = await brokenPromises(present, withChange(find, replace, path))
    expect(broken.map((promise) => promise.path)).toContain(path)
    expect(untold(broken, changelog(''), '0.1.0')).toEqual(broken)
    expect(untold(broken, changelog(`### Breaking changes\n\n- \`${path}\` is another one.`), '0.1.0')).toEqual([])
  })

  it('is not told by what was told of an earlier version', () => {
    const broken = [{ path: 'User.address', what: 'It is gone.' }]
    expect(untold(broken, changelog(''), '0.1.0')).toEqual(broken)
  })

  it('is none when something is added, described or deprecated', async () => {
    const deprecated = '  username: String! @deprecated(reason: "Use nickname.")\n\n  nickname: String!'
    for (const changed of [
      withChange('  username: String!', deprecated, 'User.username'),
      withChange('input SignUpInput {', 'input SignUpInput {\n  age: Int\n', 'SignUpInput.age'),
      withChange("A person's account.", 'An account.', 'User'),
    ]) {
      expect(changed).not.toBe(present)
      expect(await brokenPromises(present, changed)).toEqual([])
    }
  })
})

it('a deprecation without a date is found wherever it stands', () => {
  const found = undatedDeprecations(
    buildSchema(`
      type Query {
        old: Int @deprecated(reason: "Use new.")
        dated: Int @deprecated(reason: "Use new. Removed after 2027-06-30.")
        new(old: Int @deprecated): Int
      }
      input Asked { old: Int @deprecated(reason: "") }
      enum Colour { RED GREY @deprecated(reason: "Removed soon.") }`),
  )
  expect(found.sort()).toEqual(['Asked.old', 'Colour.GREY', 'Query.new.old', 'Query.old'])
})

it('versions are told apart as numbers', () => {
  expect([isLater('0.10.0', '0.9.9'), isLater('1.0.0', '0.10.0'), isLater('0.1.0', '0.1.0')]).toEqual([
    true,
    true,
    false,
  ])
})
