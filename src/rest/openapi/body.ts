/** Bodies of requests in the description. */
import type { Route } from '../define-route.ts'
import { JSON_TYPE } from './components.ts'
import { type createSchemas, formBodyOf, type JsonSchema, jsonBodyOf } from './json-schema.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const MULTIPART_TYPE = 'multipart/form-data'

/** The list as which a body may be sent by itself. Some generators write code that does not compile for "a list or an object". */
const listOf = ({ properties }: JsonSchema, listAs: string | undefined): JsonSchema | undefined =>
  listAs === undefined ? undefined : properties?.[listAs]

/**
 * A body in every encoding in which it may come; each that differs from those before it is a component of its own. `example`: one as it
 * really was, of JSON. Undefined where the route reads none.
 */
export function describeBody(
  { body, listAs, files = [] }: Route,
  { add, bodyOf }: Pick<ReturnType<typeof createSchemas>, 'add' | 'bodyOf'>,
  example: unknown,
): Record<string, unknown> | undefined {
  if (!body) return undefined
  const { name: id, body: whole } = bodyOf(body)
  const json = jsonBodyOf(whole)
  const multipart = formBodyOf(whole, { mayHaveFiles: true })
  const form = formBodyOf(whole, { mayHaveFiles: false })
  const names = new Map<string, string>()
  const refTo = (name: string, made: JsonSchema) => {
    const text = JSON.stringify(made)
    if (!names.has(text)) names.set(text, names.size === 0 ? id : name)
    return add(names.get(text)!, made)
  }
  const contents: [type: string, schema: JsonSchema | undefined][] = [
    [JSON_TYPE, json && (listOf(json, listAs) ?? refTo(id, json))],
    [FORM_TYPE, form && refTo(`${id}Form`, form)],
    [MULTIPART_TYPE, multipart && refTo(`${id}${files.length ? 'Multipart' : 'Form'}`, multipart)],
  ]
  const content = contents
    .filter(([, schema]) => schema !== undefined)
    .map(([type, schema]) => [type, { schema, ...(example !== undefined && type === JSON_TYPE && { example }) }])
  return { ...(whole.required?.length && { required: true }), content: Object.fromEntries(content) }
}
