/** Shared components of the OpenAPI document, and the conversion of zod schemas to JSON Schema. */
import { z } from 'zod'

export const JSON_TYPE = 'application/json'

export const headers = {
  ETag: { description: 'Version of the resource.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: 'Set to `true` if this is the stored response of an earlier request with the same idempotency key.',
    schema: { type: 'string', const: 'true' },
  },
  RequestId: { description: 'ID of the request in the log.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds after which you may retry.', schema: { type: 'integer', minimum: 0 } },
  WwwAuthenticate: { description: 'The authentication scheme.', schema: { type: 'string', const: 'Token' } },
}

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Unique key of this request, preferably a UUID. Requests with the same key are executed only once.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response. The request returns 304 if the resource has not changed.',
    schema: { type: 'string' },
  },
}

export const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of a session, from `POST /api/v3/auth/token/login`. `Authorization: token …` is also accepted.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The API key of a trusted service. Administrators issue it.',
  },
}

export const header = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })
export const parameter = (name: keyof typeof parameters) => ({ $ref: `#/components/parameters/${name}` })

export interface JsonSchema {
  [key: string]: unknown
  type?: string | string[]
  format?: string
  anyOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  $ref?: string
}

type Components = Record<string, JsonSchema>

/** Removes redundant keywords, and replaces keywords that code generators do not support. */
function tidy(schema: JsonSchema): void {
  // Few code generators support a schema that permits only null.
  if (schema.type === 'null' && 'const' in schema) {
    schema.type = ['string', 'null']
    delete schema.const
  }
  // The Python generator compares boolean constants with the strings "true" and "false".
  if (schema.type === 'boolean') delete schema.const
  if (schema.type === 'number' && Number.isInteger(schema.const)) schema.type = 'integer'
  if (schema.format === 'date-time') delete schema.pattern
  if (schema.format === 'binary') delete schema.contentEncoding
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames
  // `{}` and `true` mean the same, but Go generators convert `{}` to a pointer.
  if (JSON.stringify(schema.additionalProperties) === '{}') schema.additionalProperties = true
  delete schema.id
  delete schema.$schema
}

const REFERENCE = '#/$defs/'
const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

// Few generators support a list other than one type and null.
const isListOfTypes = (key: string, value: unknown): value is unknown[] =>
  key === 'type' && Array.isArray(value) && value.filter((type) => type !== 'null').length > 1

function adapted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(adapted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === '$ref') return [key, refTo(String(inner).slice(REFERENCE.length)).$ref]
      return isListOfTypes(key, inner) ? ['anyOf', inner.map((type) => ({ type }))] : [key, adapted(inner)]
    }),
  )
}

/** Converts zod schemas to JSON Schema. Schemas with an `id` become components. Throws for duplicate IDs. */
export function createSchemas(descriptionOf: (coordinate: string) => string) {
  const components: Components = {}

  const add = (name: string, schema: JsonSchema) => {
    const known = components[name]
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`Two schemas have the name ${name}.`)
    components[name] = schema
    return refTo(name)
  }

  function convert(schema: z.ZodType) {
    const { $defs = {}, ...made } = z.toJSONSchema(schema, {
      io: 'input',
      override({ jsonSchema }) {
        const found = jsonSchema as JsonSchema
        if (typeof found.same === 'string') found.description ??= descriptionOf(found.same)
        delete found.same
        tidy(found)
      },
    }) as JsonSchema & { $defs?: Components }
    tidy(made)
    return { root: adapted(made) as JsonSchema, definitions: adapted($defs) as Components }
  }

  function schemaOf(schema: z.ZodType): JsonSchema {
    const { root, definitions } = convert(schema)
    for (const [name, definition] of Object.entries(definitions)) add(name, definition)
    return root
  }

  /** Returns a named schema without adding it to the components. Throws an Error if the schema has no name. */
  function bodyOf(schema: z.ZodType): { name: string; body: JsonSchema } {
    const name = schema.meta()?.id
    if (name === undefined) throw new Error('The schema of a body has no id.')
    const { [name]: body, ...definitions } = convert(schema).definitions
    for (const [other, definition] of Object.entries(definitions)) add(other, definition)
    return { name, body: body! }
  }

  return { components, add, bodyOf, schemaOf }
}

const optionsOf = (schema: JsonSchema): JsonSchema[] => schema.anyOf?.flatMap(optionsOf) ?? [schema]
const isJsonText = ({ contentMediaType }: JsonSchema) => contentMediaType === 'application/json'
const isText = ({ type }: JsonSchema) => [type].flat().includes('string')

function narrowed(schema: JsonSchema, options: JsonSchema[]): JsonSchema {
  const { anyOf, ...rest } = schema
  return options.length > 1 ? { ...rest, anyOf: options } : { ...(anyOf && rest), ...options[0] }
}

const fieldsOf = (body: JsonSchema, fieldOf: (field: JsonSchema) => JsonSchema): JsonSchema => ({
  ...body,
  properties: Object.fromEntries(Object.entries(body.properties ?? {}).map(([name, field]) => [name, fieldOf(field)])),
})

/** Describes only the first option of a value that may be JSON text: code for "any object or a string" does not compile. */
export const jsonBodyOf = (body: JsonSchema) =>
  fieldsOf(body, (field) => {
    const options = optionsOf(field)
    return narrowed(field, options.some(isJsonText) ? options.slice(0, 1) : options)
  })

/** Describes a field as a file, or as text if its value may be sent as text. */
export const formBodyOf = (body: JsonSchema) =>
  fieldsOf(body, (field) => {
    const options = optionsOf(field)
    const text = options.find(isText)
    return narrowed(field, text ? [{ ...text, type: 'string' }] : options)
  })
