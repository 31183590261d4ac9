/** The introspection queries of clients, editors and code generators. */
import { buildClientSchema, lexicographicSortSchema, printSchema, getIntrospectionQuery as queryOf17 } from 'graphql'
import { getIntrospectionQuery as queryOf16 } from 'graphql-16'

export type Dialect = { name: string; query: string; unasked: RegExp }

const all = {
  schemaDescription: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const

const nothing = /(?!)/g
export const sinceJune2018 = / @specifiedBy\(url: "[^"]*"\)| @oneOf/g
const sinceOctober2021 = / @oneOf/g

const inlined = `
  query IntrospectionQuery {
    __schema {
      queryType { name } mutationType { name } subscriptionType { name }
      types { ...FullType }
      directives { name description locations args { ...InputValue } }
    }
  }
  fragment FullType on __Type {
    kind name description
    fields(includeDeprecated: true) { name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
    inputFields { ...InputValue }
    interfaces { ...TypeRef }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    possibleTypes { ...TypeRef }
  }
  fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
  fragment TypeRef on __Type {
    kind name ${'ofType { kind name '.repeat(7)} ${'} '.repeat(7)}
  }`

const wrapped = `kind name ${'ofType { kind name '.repeat(6)} ${'} '.repeat(6)}`
const value = `name description type { ${wrapped} } defaultValue`
const withoutFragments = `{ __schema {
  queryType { name } mutationType { name } subscriptionType { name }
  directives { name description locations args { ${value} } }
  types { kind name description specifiedByURL
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason args { ${value} } type { ${wrapped} } }
    inputFields { ${value} }
    interfaces { kind name }
    possibleTypes { kind name }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  } } }`

export const dialects: Dialect[] = [
  { name: 'graphql-js 17, all of it', query: queryOf17(all), unasked: nothing },
  { name: 'graphql-js 17 with deep types', query: queryOf17({ ...all, typeDepth: 13 }), unasked: nothing },
  { name: 'graphql-js 17 by default', query: queryOf17(), unasked: sinceJune2018 },
  { name: 'graphql-js 16, all of it', query: queryOf16(all), unasked: nothing },
  {
    name: 'graphql-js 16 with input deprecation',
    query: queryOf16({ inputValueDeprecation: true, schemaDescription: true }),
    unasked: sinceJune2018,
  },
  {
    name: 'the specification of October 2021',
    query: queryOf16({ specifiedByUrl: true, directiveIsRepeatable: true }),
    unasked: sinceOctober2021,
  },
  { name: 'the specification of June 2018', query: inlined, unasked: sinceJune2018 },
  { name: 'a builder without fragments', query: withoutFragments, unasked: sinceOctober2021 },
]

export const probe = `query Probe {
  type: __type(name: "__Type") { ...Names }
  field: __type(name: "__Field") { ...Names }
  directive: __type(name: "__Directive") { ...Names }
  inputValue: __type(name: "__InputValue") { ...Names }
  schema: __type(name: "__Schema") { ...Names }
  __schema { queryType { name } mutationType { name } subscriptionType { name } directives { name locations } }
}
fragment Names on __Type { name fields { name args { name } } }`

export async function readSchema(url: string, { query }: Pick<Dialect, 'query'>): Promise<string> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })
  const { data, errors } = (await answer.json()) as { data?: never; errors?: { message: string }[] }
  if (!data || errors) throw new Error(errors?.map(({ message }) => message).join(' ') ?? `Status ${answer.status}`)
  return `${printSchema(lexicographicSortSchema(buildClientSchema(data)))}\n`
}

const withoutOneOf = (sdl: string) => sdl.replace(/^"""[^"]*"""\ndirective @oneOf on INPUT_OBJECT\n\n/, '')

export const reportedOf = (sdl: string, { unasked }: Pick<Dialect, 'unasked'>) => withoutOneOf(sdl).replace(unasked, '')
