import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLInterfaceType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { answerLimits, fieldsWithoutSize, sizeOf } from '../../../src/graphql/limits/document-cost.ts'
import { documentLimits } from '../../../src/graphql/limits/document-limits.ts'
import { schema, schemaText } from '../../../src/graphql/schema.ts'
import { errorMeanings } from '../../../src/shared/errors.ts'

const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type))

it('schema.graphql is the printed schema', () => {
  const committed = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8')
  expect(committed, 'run npm run generate').toBe(schemaText())
})

function* described(): Generator<[string, string | null | undefined]> {
  for (const type of types) {
    // GraphQL's own scalars describe themselves.
    yield [type.name, type.description]
    if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description]
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description]
    }
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        yield [`${type.name}.${field.name}`, field.description]
        for (const arg of field.args) yield [`${type.name}.${field.name}(${arg.name}:)`, arg.description]
      }
    }
  }
}

it('every type, field, argument and value has a description', () => {
  expect([...described()].filter(([, description]) => !description?.trim()).map(([name]) => name)).toEqual([])
})

it('tells every reason for a refusal, in the words of the vocabulary', () => {
  const type = schema.getType('ErrorCode')
  const told = isEnumType(type) ? type.getValues().map(({ name, description }) => [name, description]) : []
  expect(Object.fromEntries(told)).toEqual(errorMeanings)
})

it('every scalar of ours names its specification', () => {
  const silent = types.filter((type) => isScalarType(type) && !isSpecifiedScalarType(type) && !type.specifiedByURL)
  expect(silent.map(({ name }) => name)).toEqual([])
})

it('every object with an identifier of its own is a Node', () => {
  const nodes = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType)
  const withId = types.filter((type) => isObjectType(type) && type.getFields().id && !type.name.endsWith('Payload'))
  expect(withId.map(({ name }) => name)).toEqual(nodes.map(({ name }) => name))
})

it('no payload has the identifier of what is still there: Relay would take the one for the other', () => {
  const named = types.filter((type) => isObjectType(type) && type.name.endsWith('Payload') && type.getFields().id)
  expect(named.map(({ name }) => name)).toEqual(['DeleteAccountPayload', 'DeleteAssetPayload', 'RevokeSessionPayload'])
})

it('every mutation takes one input and answers a payload of its own', () => {
  const mutations = Object.values(schema.getMutationType()!.getFields())
  for (const { name, args, type } of mutations.filter(({ args }) => args.length > 0)) {
    expect(
      args.map((arg) => arg.name),
      name,
    ).toEqual(['input'])
    const pascal = name[0]!.toUpperCase() + name.slice(1)
    expect([String(args[0]!.type), String(type)]).toEqual([`${pascal}Input!`, `${pascal}Payload!`])
  }
})

it('nothing but what a number of 32 bits cannot name is a float', () => {
  const floats = types
    .filter((type) => isObjectType(type) || isInputObjectType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => /Float/.test(String(field.type)))
        .map((field) => `${type.name}.${field.name}`),
    )
  expect(floats).toEqual(['Verification.chainId'])
})

describe('the size of what a field answers', () => {
  it('is stated beside every list, page and text', () => {
    expect(fieldsWithoutSize(schema)).toEqual([])
  })

  it('is missed where it is not stated', () => {
    const silent = buildSchema(`
      type Query { list: [Int!]! text: String data: ThingConnection! number: Int json: JSONObject }
      type ThingConnection { nodes: [Int!]! }
      scalar JSONObject`)
    const missed = ['Query.list', 'Query.text', 'Query.data', 'Query.json']
    expect(fieldsWithoutSize(silent)).toEqual(missed)
  })

  it('of a page is told where it is asked for', () => {
    for (const type of types.filter((type) => isObjectType(type))) {
      for (const field of Object.values(type.getFields())) {
        const { page } = sizeOf(field)
        if (!page) continue
        expect(page.defaultSize).toBeLessThanOrEqual(page.maxSize)
        const asked = field.args.filter(({ name }) => ['first', 'last', 'limit'].includes(name))
        expect(asked.length).toBeGreaterThan(0)
        for (const arg of asked) {
          const most = `at most ${page.maxSize.toLocaleString('en-US')}.`
          expect(arg.description!.toLowerCase(), `${type.name}.${field.name}(${arg.name}:)`).toContain(most)
        }
      }
    }
  })
})

it('what a document may ask is told where readers of the schema find it', () => {
  const told = schema.getQueryType()!.description!
  for (const limit of [documentLimits.characters, documentLimits.depth, answerLimits.values, answerLimits.bytes]) {
    expect(told).toContain(limit.toLocaleString('en-US'))
  }
})
