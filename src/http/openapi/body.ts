import type { Route } from '../rest/define-route.ts'
import { JSON_TYPE } from './components.ts'
import { type createSchemas, formBodyOf, type JsonSchema, jsonBodyOf } from './json-schema.ts'

const MULTIPART_TYPE = 'multipart/form-data'

/**
 * Describes a request body in one media type: multipart for routes that take files, JSON for all others. The service also reads other
 * encodings, but openapi-python-client sends a body in all of its media types at once. `example`: a recorded JSON body. Returns
 * undefined for a route without a body.
 */
export function describeBody(
  { body, listAs, files = [] }: Route,
  { add, bodyOf }: Pick<ReturnType<typeof createSchemas>, 'add' | 'bodyOf'>,
  example: unknown,
): Record<string, unknown> | undefined {
  if (!body) return undefined
  const { name, body: whole } = bodyOf(body)
  const required = whole.required?.length ? { required: true } : {}
  if (files.length > 0) return { ...required, content: { [MULTIPART_TYPE]: { schema: add(name, formBodyOf(whole)) } } }
  const json = jsonBodyOf(whole)
  // Some generators write code that does not compile for "a list or an object".
  const list = listAs === undefined ? undefined : json.properties?.[listAs]
  const schema: JsonSchema = list ?? add(name, json)
  return { ...required, content: { [JSON_TYPE]: { schema, ...(example !== undefined && { example }) } } }
}
