import { Kind, OperationTypeNode, validate, visit } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { RestRequest } from '../../../src/http/rest/define-route.ts'
import { createFields } from '../../../src/http/rest/fields.ts'
import { routes, schema } from '../../support/full-api.ts'
import { directRoutes } from '../../support/route-tables.ts'

const table = routes.map((route) => ({ name: `${route.method} ${route.path}`, route }))
const parametersOf = (path: string) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
const readingPosts = new Set(['POST assets/merge-trees', 'POST assets/:nid/download', 'POST auth/devices'])

it('the route table has no two routes with the same method and path', () => {
  const keys = [
    ...routes.map(({ method, path }) => `${method} /api/v3/${path}`),
    ...directRoutes.map(({ method, path }) => `${method} ${path}`),
  ].map((key) => key.replaceAll(/:\w+/g, ':'))
  expect(keys).toEqual([...new Set(keys)])
})

describe.each(table)('route $name', ({ route }) => {
  const [operation, ...others] = route.operation.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  const declared = operation?.kind === Kind.OPERATION_DEFINITION ? (operation.variableDefinitions ?? []) : []

  it('a route has one named operation that is valid for the schema', () => {
    expect(others).toEqual([])
    expect(validate(schema, route.operation).map(({ message }) => message)).toEqual([])
    expect(operation?.kind === Kind.OPERATION_DEFINITION && operation.name?.value).toMatch(/^Rest[A-Z]/)
  })

  it('a route has a query if it only reads, and a mutation otherwise', () => {
    const reads = route.method === 'GET' || route.isQuote || readingPosts.has(`${route.method} ${route.path}`)
    const kind = reads ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION
    expect(operation?.kind === Kind.OPERATION_DEFINITION && operation.operation).toBe(kind)
  })

  it('a route passes each path parameter as a variable that the operation declares and uses', () => {
    const params = Object.fromEntries(parametersOf(route.path).map((name) => [name, `value of ${name}`]))
    const firstOf = (_name: string, values: object) => Object.values(values)[0]
    const body = { ...createFields({}), choice: firstOf, upload: () => ({}) as never }
    const request: RestRequest = {
      params,
      query: new URLSearchParams(),
      body,
      header: () => undefined,
      url: '',
    }
    const variables = route.variables(request)
    const names = declared.map(({ variable }) => variable.name.value)
    expect(Object.keys(variables).filter((name) => !names.includes(name))).toEqual([])
    for (const value of Object.values(params)) expect(JSON.stringify(variables)).toContain(value)
    const used = new Set<string>()
    visit(route.operation, {
      VariableDefinition: () => false,
      Variable: ({ name }) => void used.add(name.value),
    })
    expect(names.filter((name) => !used.has(name))).toEqual([])
  })

  it('a route has a path without leading or trailing slashes', () => {
    expect(route.path).toMatch(/^[a-z][\w:/-]*[\w]$/)
  })
})

it('routes have unique operation names, so that logs and traces identify the route', () => {
  const byName = Map.groupBy(routes, (route: (typeof routes)[number]) => {
    const [operation] = route.operation.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
    return operation?.name?.value
  })
  // Two paths of the same resource share one document.
  for (const [, shared] of byName) expect(new Set(shared.map(({ operation }) => operation)).size).toBe(1)
})
