import { readFileSync } from 'node:fs'
import {
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
} from 'graphql'
import { expect, it } from 'vitest'
import { sizeOf } from '../../../src/graphql/limits/document-cost.ts'
import { schemaText } from '../../../src/graphql/schema.ts'
import { errorMeanings } from '../../../src/shared/errors.ts'
import { schema } from '../../support/full-api.ts'

const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type))

it('schema.graphql matches the schema in the code', () => {
  const committed = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8')
  expect(committed, 'run npm run generate').toBe(schemaText(schema))
})

function* described(): Generator<[string, string | null | undefined]> {
  for (const type of types) {
    // The standard scalars have their own descriptions.
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

it('every GraphQL type, field, argument and enum value has a description', () => {
  expect([...described()].filter(([, description]) => !description?.trim()).map(([name]) => name)).toEqual([])
})

it('ErrorCode lists every error code with its documented meaning', () => {
  const type = schema.getType('ErrorCode')
  const reported = isEnumType(type) ? type.getValues().map(({ name, description }) => [name, description]) : []
  expect(Object.fromEntries(reported)).toEqual(errorMeanings)
})

it('every GraphQL object type with an ID implements Node', () => {
  const nodes = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType)
  const withId = types.filter((type) => isObjectType(type) && type.getFields().id && !type.name.endsWith('Payload'))
  expect(withId.map(({ name }) => name)).toEqual(nodes.map(({ name }) => name))
})

it('only payloads of deletions contain the ID of the object, because Relay merges equal IDs', () => {
  const named = types.filter((type) => isObjectType(type) && type.name.endsWith('Payload') && type.getFields().id)
  expect(named.map(({ name }) => name)).toEqual(['DeleteAccountPayload', 'DeleteAssetPayload', 'RevokeSessionPayload'])
})

it('every GraphQL mutation takes one input and returns its own payload type', () => {
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

it('no GraphQL field is a Float except Verification.chainId', () => {
  const floats = types
    .filter((type) => isObjectType(type) || isInputObjectType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => /Float/.test(String(field.type)))
        .map((field) => `${type.name}.${field.name}`),
    )
  expect(floats).toEqual(['Verification.chainId'])
})

/** Scalars without a maximum size. */
const unbounded = new Set(['String', 'JSONObject'])

/** Fields whose size follows from their connection. */
const boundedByPage = /(Connection\.(nodes|edges)|Edge\.cursor)$|^PageInfo\./

/** Returns the list and text fields that declare no size, as `Type.field`. */
function fieldsWithoutSize(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type))
    .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => {
      const { page, items, bytes, values } = sizeOf(field)
      const named = getNamedType(field.type).name
      if (named.endsWith('Connection')) return !page
      if (isListType(getNullableType(field.type))) return !(page || items || values)
      return unbounded.has(named) && !bytes
    })
    .map(({ type, field }) => `${type.name}.${field.name}`)
    .filter((path) => !boundedByPage.test(path))
}

it('every list, page and text field declares its maximum size', () => {
  expect(fieldsWithoutSize(schema)).toEqual([])
})
