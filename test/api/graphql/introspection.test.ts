import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputObjectType, validateSchema } from 'graphql'
import { buildSchema as buildTextWith16, validateSchema as validateWith16 } from 'graphql-16'
import { describe, expect, it } from 'vitest'
import { documentLimits } from '../../../src/graphql/limits/document-limits.ts'
import { dialects, probe, readSchema, reportedOf } from '../../support/dialects.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const committed = readFileSync('schema.graphql', 'utf8')
const full = dialects[0]!.query

describe('introspected schema', () => {
  it.each(dialects)('the introspected schema is complete for $name', async (dialect) => {
    expect(await readSchema(`${app.url}/graphql`, dialect)).toBe(reportedOf(committed, dialect))
  })

  it('the schema file and the introspected schema define @oneOf', async () => {
    for (const sdl of [(await send(`${app.url}/schema.graphql`)).text, committed]) {
      expect(sdl).toMatch(/^directive @oneOf on INPUT_OBJECT$/m)
      const schema = buildSchema(sdl)
      expect([validateSchema(schema), validateWith16(buildTextWith16(sdl))]).toEqual([[], []])
      expect((schema.getType('QuoteInput') as GraphQLInputObjectType).isOneOf).toBe(true)
    }
    const { __schema } = expectOk(await app.graphql('{ __schema { directives { name locations args { name } } } }'))
    expect(__schema.directives).toContainEqual({ name: 'oneOf', locations: ['INPUT_OBJECT'], args: [] })
  })

  it('introspection supports the capability query of GraphQL tools', async () => {
    const { type } = expectOk(await app.graphql(probe))
    expect(type.fields.map(({ name }: { name: string }) => name)).toContain('specifiedByURL')
  })
})

describe('introspection queries', () => {
  const selection = full.slice(full.indexOf('__schema'), full.indexOf('fragment FullType')).trim().slice(0, -1)
  const fragments = full.slice(full.indexOf('fragment FullType'))
  const tenTimes = (field: string) => Array.from({ length: 10 }, (_, i) => `n${i}: ${field}`).join(' ')
  const T = 'fragment T on __Type { name fields { name description type { name } args { name description } } }'
  const chain = (depth: number) => `{ __schema { types { ${'ofType { '.repeat(depth)} name ${'} '.repeat(depth)} } } }`
  const loop = (times: number) =>
    `{ __schema { types { ${'fields { type { '.repeat(times)} name ${'} } '.repeat(times)} } } }`

  it.each([
    ['the whole schema twice', `{ a: ${selection} b: ${selection} } ${fragments}`, 'fields'],
    ['all types under ten aliases', `{ __schema { ${tenTimes('types { ...T }')} } } ${T}`, 'an alias inside'],
    [
      'the schema under ten aliases',
      `{ ${tenTimes('__schema { types { ...T } }')} } ${T}`,
      'fields `__schema` and `__type`',
    ],
    [
      'types by name under ten aliases',
      `query ($n: String!) { ${tenTimes('__type(name: $n) { ...T }')} } ${T}`,
      'fields `__schema` and `__type`',
    ],
    ['a long chain of wrapped types', chain(documentLimits.schemaDepth), 'levels of introspection'],
    [
      'a long chain in a fragment',
      `{ __schema { types { ...T } } } fragment T on __Type { ${'ofType { '.repeat(20)} name ${'} '.repeat(20)} }`,
      'levels of introspection',
    ],
    ['circular types of fields', loop(3), 'Maximum introspection depth exceeded'],
    [
      'circular types of fields in fragments',
      '{ __schema { types { ...A } } } fragment A on __Type { fields { type { ...B } } } fragment B on __Type { fields { type { ...C } } } fragment C on __Type { fields { name } }',
      'Maximum introspection depth exceeded',
    ],
    [
      'possible types of interfaces of possible types',
      '{ __type(name: "Node") { possibleTypes { interfaces { possibleTypes { fields { name } } } } } }',
      'Maximum introspection depth exceeded',
    ],
  ])('rejects an introspection query above the limits: %s', async (_what, document, named) => {
    const { body } = expectError(await app.graphql(document, { n: 'Asset' }), 'VALIDATION_FAILED')
    expect(body.errors[0].message).toContain(named)
    expect(body.data).toBeUndefined()
  })

  it('an introspection query does not raise the limits of data in the same document', async () => {
    const document = `{ ${selection} assets(first: 100) { nodes { commits(first: 100) { nodes { id } } } } } ${fragments}`
    const { body } = expectError(await app.graphql(document), 'VALIDATION_FAILED')
    expect(body.errors[0].message).toContain('The response may contain')
    expectError(
      await app.graphql(
        '{ me { ...T } } fragment T on User { assets { nodes { owner { __typename } } } } fragment U on __Type { name }',
      ),
      'VALIDATION_FAILED',
    )
  })
})
