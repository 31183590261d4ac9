/** The code in `docs/clients/` equals the projects that `npm run test:ecosystem -- clients` runs, and both match the schema. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  buildSchema,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { commandsOf, overview, pages } from '../ecosystem/clients/pages.ts'
import { cutSnippet, snippetsOf } from '../ecosystem/clients/snippets.ts'

const ROOT = join(import.meta.dirname, '../..')
const CLIENTS = join(ROOT, 'test/ecosystem/clients')
const read = (path: string) => readFileSync(join(CLIENTS, path), 'utf8')
const overviewText = readFileSync(overview, 'utf8')
const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))
const sources = (pattern: string) =>
  globSync(pattern, { cwd: CLIENTS }).filter((path) => !/node_modules|\.venv|gql\/|__generated__|schema\./.test(path))

describe.each(pages.map((page) => [basename(page.file), page] as const))('page %s', (name, page) => {
  it('the page of a client project shows exactly the code of the project', () => {
    const snippets = snippetsOf(page.text)
    expect(snippets.length).toBeGreaterThan(4)
    for (const { path, region, text } of snippets) {
      expect(path.split('/')[0]).toBe(page.project)
      expect(text, `${path}${region && `#${region}`}`).toBe(cutSnippet(read(path), region))
    }
  })

  it('the page of a client project shows only tested code', () => {
    const unmarked = [...page.text.matchAll(/^(.*)\n+```(?!sh$|text$)(\w+)$/gm)].filter(
      ([, before]) => !before!.startsWith('<!-- '),
    )
    expect(unmarked.map(([all]) => all)).toEqual([])
  })

  it('the commands of a client page end with the first upload, and the overview links to the page', () => {
    expect(commandsOf(page).at(-1)).toMatch(/start|first.upload/)
    expect(overviewText).toContain(`](clients/${name})`)
  })
})

it('the overview page shows exactly the code of the client projects', () => {
  const snippets = snippetsOf(overviewText)
  expect(snippets).toHaveLength(1)
  for (const { path, region, text } of snippets) expect(text).toBe(cutSnippet(read(path), region))
})

const rules = specifiedRules.filter(({ name }) => !['KnownDirectivesRule', 'NoUnusedFragmentsRule'].includes(name))

describe('client projects', () => {
  const documents = [
    ...sources('*/src/*.ts').flatMap((path) =>
      [...read(path).matchAll(/(?<![/\w])graphql\(?`([^`]*)`/g)].map(([, text]) => ({ path, text: text! })),
    ),
    ...sources('*/*.graphql').map((path) => ({ path, text: read(path) })),
  ].filter(({ text }) => !text.includes('@refetchable'))

  it('the client projects use only existing schema fields', () => {
    expect(documents.length).toBeGreaterThan(40)
    for (const { path, text } of documents)
      expect(
        validate(schema, parse(text), rules).map(({ message }) => message),
        path,
      ).toEqual([])
  })

  it.each([
    ...sources('*/codegen.ts'),
    'gql-tada/src/graphql.ts',
    'relay/relay.config.json',
    'genqlient/genqlient.yaml',
    'ariadne-codegen/pyproject.toml',
  ])('the client project %s maps each custom scalar', (path) => {
    // ariadne-codegen has its own type for files.
    const known = path.endsWith('pyproject.toml') ? ['Upload'] : []
    const scalars = Object.values(schema.getTypeMap()).filter(isScalarType)
    const own = scalars.filter((type) => !isSpecifiedScalarType(type)).map(({ name }) => name)
    expect(own.filter((name) => !known.includes(name) && !new RegExp(`\\b${name}\\b`).test(read(path)))).toEqual([])
  })

  it('the client projects configure Graphcache for every type without an ID', () => {
    const [, keys] = /keys: \{([^}]*)\}/.exec(read('urql/src/annal.ts'))!
    const reported = [...keys!.matchAll(/(\w+):/g)].map(([, name]) => name)
    // Graphcache knows payloads and the types of pages.
    const isKnown = /(Payload|Connection|Edge)$|^(PageInfo|Query|Mutation|Subscription)$|^__/
    const types = Object.values(schema.getTypeMap()).filter(isObjectType)
    expect(reported).toEqual(
      types.filter((type) => !isKnown.test(type.name) && !type.getFields().id).map(({ name }) => name),
    )
  })

  it.each(sources('*/package.json'))('the client project %s pins exact versions and has a lock file', (path) => {
    const { dependencies, devDependencies } = JSON.parse(read(path))
    const versions = Object.values({ ...dependencies, ...devDependencies })
    expect(versions.filter((version) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual([])
    expect(existsSync(join(CLIENTS, path.replace('package.json', 'package-lock.json')))).toBe(true)
  })
})
