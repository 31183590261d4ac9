/** The OpenAPI document matches the routes. `test/support/described.ts` checks responses against it in every test. */

import { type DocumentNode, getOperationAST } from 'graphql'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { noteReadings } from '../../proofs/harness/fuzz-rest.ts'
import { rootFieldsOf } from '../../src/graphql/limits/document-cost.ts'
import { description } from '../support/described.ts'
import { routes, schema } from '../support/full-api.ts'

const namesIn = (path: string) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
const keysOf = (fields: { shape: object } | undefined) => Object.keys(fields?.shape ?? {}).sort()

const unique = (names: string[]) => [...new Set(names)].sort()

function definitionsOf(document: DocumentNode) {
  const operation = getOperationAST(document)!
  const fields = schema.getRootType(operation.operation)!.getFields()
  return rootFieldsOf(document, operation).map(({ name }) => fields[name.value]!)
}

const presented: Record<string, { fields?: string[]; query?: string[] }> = {
  'POST assets/:nid/download': { fields: ['field'] },
  'GET assets': { query: ['after', 'before', 'owner_service_name'] },
}

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'operation %s',
  (name, route) => {
    it('the OpenAPI document lists exactly the fields and parameters that an operation reads', () => {
      const { fields, files, query } = noteReadings(route)
      expect(keysOf(route.body)).toEqual(unique([...fields, ...files, ...(presented[name]?.fields ?? [])]))
      const shared = route.body && 'max_cost' in route.body.shape ? ['dry_run', 'max_cost'] : ['dry_run']
      const read = [...query, ...(presented[name]?.query ?? [])].filter((each) => !shared.includes(each))
      expect(keysOf(route.query)).toEqual(unique(read))
      expect(keysOf(route.params)).toEqual(namesIn(route.path).sort())
    })
  },
)

const writes = routes.filter(({ body }) => body).map((route) => [`${route.method} ${route.path}`, route.body!] as const)
it.each(writes)(
  'the OpenAPI document of %s describes which strings are required and which are e-mail addresses',
  (_, body) => {
    const { properties = {}, required = [] } = z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' })
    const texts = Object.entries(properties).flatMap(([name, schema]) =>
      typeof schema === 'object' && schema.type === 'string' ? [{ name, schema }] : [],
    )
    // Strings without a pattern or a list of values are free text.
    const needed = texts.filter(({ name, schema }) => required.includes(name) && !schema.pattern && !schema.enum)
    expect(needed.filter(({ schema }) => !schema.minLength).map(({ name }) => name)).toEqual([])
    const addresses = texts.filter(({ name }) => name.endsWith('email'))
    expect(addresses.filter(({ schema }) => schema.format !== 'email').map(({ name }) => name)).toEqual([])
  },
)

it('every OpenAPI operation has a unique ID', () => {
  const names = Object.values(description.paths).flatMap((item) => Object.values(item).map((each) => each.operationId))
  expect(names.length).toBeGreaterThan(60)
  expect(names).toEqual([...new Set(names)])
  expect(names.filter((name) => !/^[a-z]+[A-Z0-9]\w+$/.test(name))).toEqual([])
})

function* schemasIn(value: unknown, place: string): Generator<[place: string, type: unknown]> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value) yield [place, value.type]
  for (const [key, inner] of Object.entries(value)) yield* schemasIn(inner, `${place}/${key}`)
}

it('OpenAPI values of several types use anyOf, because Go generators support type lists only with null', () => {
  const types = [...schemasIn(description, '#')].filter(([, type]) => Array.isArray(type)) as [string, string[]][]
  expect(types.length).toBeGreaterThan(10)
  expect(types.filter(([, type]) => type.filter((each) => each !== 'null').length > 1)).toEqual([])
})

const codesOfAllChanges: readonly string[] = ['CONFLICT', 'IDEMPOTENCY_KEY_REUSED']

it.each(
  routes.filter(({ method }) => method !== 'GET').map((route) => [`${route.method} ${route.path}`, route] as const),
)('the OpenAPI document of %s lists the same errors as the mutation', (_, { operation, errors = [] }) => {
  const [field] = definitionsOf(operation)
  for (const code of errors.filter((each) => !codesOfAllChanges.includes(each))) {
    expect(field!.description).toMatch(new RegExp(`\\b${code}\\b`))
  }
})
