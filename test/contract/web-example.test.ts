/** What `examples/web` asks for and has words for is what the schema has: `npm run test:ecosystem -- examples`, which builds it, is not run by CI. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isEnumType, parse, specifiedRules, validate } from 'graphql'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const WEB = join(ROOT, 'examples/web/src')
const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))
const sources = globSync('**/*.{ts,tsx}', { cwd: WEB })
  .filter((path) => !path.startsWith('gql/'))
  .map((path) => readFileSync(join(WEB, path), 'utf8'))

it('The web example asks for what the schema has', () => {
  const documents = sources.flatMap((text) =>
    [...text.matchAll(/graphql\(\s*(?:\/\* GraphQL \*\/ )?`([^`]+)`/g)].map(([, document]) => document!),
  )
  expect(documents.length).toBeGreaterThan(10)
  // All together: fragments stand in other files than the operations that spread them.
  const errors = validate(schema, parse(documents.join('\n')), specifiedRules)
  expect(errors.map(({ message }) => message)).toEqual([])
})

it('The web example has words for every value of an enum that it tells', () => {
  const tables = sources.flatMap((text) => [...text.matchAll(/: Record<(\w+), [^=]+> = \{\n(.*?)\n\}/gs)])
  const told = tables.flatMap(([, name, body]) => {
    const type = schema.getType(name!)
    const keys = [...body!.matchAll(/^ {2}(\w+):/gm)].map(([, key]) => key!)
    return isEnumType(type)
      ? [
          {
            name,
            keys: keys.sort(),
            values: type
              .getValues()
              .map(({ name }) => name)
              .sort(),
          },
        ]
      : []
  })
  expect(told.map(({ name }) => name).sort()).toEqual([
    'CommitStatus',
    'DepositStatus',
    'ErrorCode',
    'OrderStatus',
    'TransferKind',
    'WithdrawalStatus',
  ])
  for (const { name, keys, values } of told) expect(keys, name).toEqual(values)
})
