/** Finds breaking schema changes since the last release, and checks that the changelog lists them. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { CriticalityLevel, diff } from '@graphql-inspector/core'
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
} from 'graphql'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

export interface BrokenPromise {
  path: string
  what: string
}

export async function brokenPromises(before: string, present: string): Promise<BrokenPromise[]> {
  const changes = await diff(buildSchema(before), buildSchema(present))
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path = 'schema', message }) => ({ path, what: message }))
}

const VERSION_HEADING = /^## (\d+\.\d+\.\d+)\b.*$/m

function announcements(changelog: string, version: string): string {
  const since = changelog.split(/^(?=## )/m)
  const end = since.findIndex((section) => VERSION_HEADING.exec(section)?.[1] === version)
  return since
    .slice(0, end < 0 ? undefined : end)
    .flatMap((section) => section.split(/^(?=### )/m))
    .filter((part) => part.startsWith('### Breaking changes'))
    .join('\n')
}

export function untold(broken: readonly BrokenPromise[], changelog: string, version: string): BrokenPromise[] {
  const reported = announcements(changelog, version)
  return broken.filter(({ path }) => !reported.includes(`\`${path}\``))
}

const numbersOf = (version: string) => version.split('.').map(Number)

export function isLater(a: string, b: string): boolean {
  const [before, after] = [numbersOf(b), numbersOf(a)]
  const at = after.findIndex((number, index) => number !== before[index])
  return at >= 0 && after[at]! > before[at]!
}

export const keptReleases = (): string[] =>
  globSync('docs/releases/*.graphql', { cwd: root }).map((path) => basename(path, '.graphql'))

export const toldReleases = (changelog = read('CHANGELOG.md')): string[] =>
  [...changelog.matchAll(new RegExp(VERSION_HEADING, 'gm'))].map(([, version]) => version!)

export async function untoldSinceLastRelease(): Promise<{ version: string; untold: BrokenPromise[] }> {
  if (keptReleases().length === 0) return { version: 'none', untold: [] }
  const version = keptReleases().reduce((last, other) => (isLater(other, last) ? other : last))
  const broken = await brokenPromises(read(`docs/releases/${version}.graphql`), read('schema.graphql'))
  return { version, untold: untold(broken, read('CHANGELOG.md'), version) }
}

const DATED = /\bRemoved after \d{4}-\d{2}-\d{2}\b/

interface Deprecable {
  name: string
  deprecationReason?: string | null | undefined
}

function* deprecables(schema: GraphQLSchema): Generator<[path: string, Deprecable]> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue
    if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value]
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field]
    }
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field]
      for (const argument of field.args) yield [`${type.name}.${field.name}.${argument.name}`, argument]
    }
  }
}

export const undatedDeprecations = (schema: GraphQLSchema): string[] =>
  [...deprecables(schema)]
    .filter(([, { deprecationReason }]) => deprecationReason != null && !DATED.test(deprecationReason))
    .map(([path]) => path)
