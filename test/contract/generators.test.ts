import { expect, test } from 'vitest'
import document from '../../src/http/rest/generated/openapi.json' with { type: 'json' }

type Json = { [key: string]: Json } | Json[] | string | number | boolean | null

interface Found {
  path: string
  schema: Record<string, unknown>
}

interface Operation {
  operationId: string
  requestBody?: { content: object }
  responses: Record<string, { content?: Record<string, { schema?: object }> }>
}

function objectsOf(value: Json, path = ''): Found[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).filter(([key]) => key !== 'example' && key !== 'examples')
  const below = inner.flatMap(([key, each]) => objectsOf(each, `${path}/${key}`))
  return Array.isArray(value) ? below : [{ path, schema: value }, ...below]
}

const objects = objectsOf(document as unknown as Json)
const pathsWhere = (isWrong: (schema: Found['schema']) => boolean) =>
  objects.filter(({ schema }) => isWrong(schema)).map(({ path }) => path)

const operations = Object.values(document.paths as unknown as Record<string, Record<string, Operation>>).flatMap(
  (item) => Object.values(item),
)

const successes = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => status.startsWith('2'))

test('every OpenAPI operation describes exactly one success body', () => {
  const bodiesOf = (operation: Operation) =>
    successes(operation).flatMap(([, { content = {} }]) => Object.entries(content).map((each) => JSON.stringify(each)))
  const several = operations.filter((operation) => new Set(bodiesOf(operation)).size > 1)
  expect(several.map(({ operationId }) => operationId)).toEqual([])
  const unions = operations.filter((operation) => /"(anyOf|oneOf)":\[\{"\$ref/.test(bodiesOf(operation).join()))
  expect(unions.map(({ operationId }) => operationId)).toEqual([])
})

// The second status, with the same body, is for a part of the file.
test('only file downloads describe more than one success status', () => {
  const several = operations.filter((operation) => successes(operation).length > 1)
  expect(several.map(({ operationId }) => operationId)).toEqual(['getAssetWithContentCredentials', 'getFile'])
})

// openapi-generator: a method for a body without a schema returns nothing.
test('every success body in the OpenAPI document has a schema', () => {
  const bodies = operations.flatMap((operation) =>
    successes(operation).flatMap(([, { content = {} }]) =>
      Object.values(content).map(({ schema }) => ({ operationId: operation.operationId, schema })),
    ),
  )
  expect(bodies.filter(({ schema }) => schema === undefined)).toEqual([])
})

// openapi-python-client sends a body in each described media type, with the Content-Type of the last one.
test('every request body in the OpenAPI document has one media type', () => {
  const several = operations.filter(({ requestBody }) => Object.keys(requestBody?.content ?? {}).length > 1)
  expect(several.map(({ operationId }) => operationId)).toEqual([])
})

// openapi-generator for TypeScript: imports without names.
test('the OpenAPI document describes webhooks as callbacks', () => {
  expect(document).not.toHaveProperty('webhooks')
})

// openapi-generator for TypeScript: an empty interface.
test('no value in the OpenAPI document has several primitive types', () => {
  const isMixed = ({ anyOf = [] }: { anyOf?: { type?: string }[] }) =>
    new Set(anyOf.map(({ type }) => type).filter((type) => type !== undefined && type !== 'null')).size > 1
  expect(pathsWhere(isMixed)).toEqual([])
})

// openapi-generator 7.17: for Python it ends with an exception, for Java, Go and Rust it writes what does not compile.
test('the type null in the OpenAPI document appears only together with another type', () => {
  const isNullAlone = ({ path, schema }: Found) => schema.type === 'null' && !/\/anyOf\/\d+$/.test(path)
  expect(objects.filter(isNullAlone).map(({ path }) => path)).toEqual([])
})

// openapi-generator 7.17 for Java: a method is called getMap<String, Object>().
test('no request value in the OpenAPI document mixes an object or array with another type', () => {
  const isOpen = (option: Found['schema']) =>
    option.type === 'array' || (option.type === 'object' && !('properties' in option))
  const optionsOf = ({ anyOf = [] }: { anyOf?: Found['schema'][] }) => anyOf.filter(({ type }) => type !== 'null')
  expect(pathsWhere((schema) => optionsOf(schema).length > 1 && optionsOf(schema).some(isOpen))).toEqual([])
})

// openapi-generator 7.17 for Go: each model X has a function NewX that makes one.
test('no component name in the OpenAPI document is "New" plus another component name', () => {
  const names = Object.keys(document.components.schemas)
  expect(names.filter((name) => names.includes(`New${name}`))).toEqual([])
})

// openapi-generator 7.17 for TypeScript: a choice of words is exported twice, as a field of the form and as a parameter of the operation.
test('no form in the OpenAPI document has the name of its operation', () => {
  const named = objects.flatMap(({ schema: { operationId, requestBody } }) => {
    const { content = {} } = (requestBody ?? {}) as { content?: Record<string, { schema: { $ref?: string } }> }
    const name = content['multipart/form-data']?.schema.$ref?.split('/').at(-1)
    return 'application/json' in content || name?.toLowerCase() !== String(operationId).toLowerCase() ? [] : [name]
  })
  expect(named).toEqual([])
})

test('the OpenAPI document describes integers as integers', () => {
  expect(pathsWhere((schema) => schema.type === 'number' && Number.isInteger(schema.const))).toEqual([])
})

// openapi-generator 7.17 for Python: false is no "false", so that no answer with such a field could be read.
test('the OpenAPI document describes booleans as booleans', () => {
  expect(pathsWhere(({ type, ...rest }) => type === 'boolean' && ('const' in rest || 'enum' in rest))).toEqual([])
})
