/** The examples match the schema. `npm run test:ecosystem -- examples` also builds them and runs them in a browser. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isEnumType, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { errorCodes } from '../../src/shared/errors.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const sources = globSync('examples/web/src/**/*.{ts,tsx}', { cwd: root }).filter((path) => !path.includes('/gql/'))

it('examples/web uses only existing schema fields', () => {
  const documents = sources.flatMap((path) =>
    [...read(path).matchAll(/graphql\(\/\* GraphQL \*\/ `([^`]*)`/g)].map(([, text]) => text!),
  )
  expect(documents.length).toBeGreaterThan(20)
  const errors = validate(buildSchema(read('schema.graphql')), parse(documents.join('\n')))
  expect(errors.map(({ message }) => message)).toEqual([])
})

it('examples/web has a message for every error code', () => {
  const words = read('examples/web/src/api/errors.ts')
  expect(errorCodes.filter((code) => !words.includes(`\n  ${code}: `))).toEqual([])
})

it('examples/web has a label for every enum value that it shows', () => {
  const schema = buildSchema(read('schema.graphql'))
  const tables = sources.flatMap((path) => [...read(path).matchAll(/: Record<(\w+), [^=]+> = \{\n(.*?)\n\}/gs)])
  const shown = tables.flatMap(([, name, body]) => {
    const type = schema.getType(name!)
    if (!isEnumType(type)) return []
    const keys = [...body!.matchAll(/^ {2}(\w+):/gm)].map(([, key]) => key!)
    expect(keys.sort(), name).toEqual(
      type
        .getValues()
        .map((value) => value.name)
        .sort(),
    )
    return [name]
  })
  expect(shown.length).toBeGreaterThan(5)
})
