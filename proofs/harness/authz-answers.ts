/** Checks if a response contains data that the caller may not see. */
import { type GraphQLNamedType, type GraphQLSchema, getNamedType, isInterfaceType, isObjectType } from 'graphql'
import type { Expectations } from './authz-expectations.ts'
import type { Kind } from './authz-kinds.ts'
import type { Scene } from './authz-scene.ts'
import type { TypeRule } from './authz-types.ts'

export interface Judge {
  /** Returns other users' planted words in a response. Words that are also in the request do not count. */
  wordsIn(kind: Kind, sent: string, told: string): string[]
  /** Returns other users' objects and values in the data of a response. */
  objectsIn(kind: Kind, type: GraphQLNamedType, data: unknown): string[]
  /** Fields that occurred in a response, as `Type.field`. */
  readonly reached: ReadonlySet<string>
  /** Returns planted words that never appeared for callers who may see them. */
  unseen(): string[]
}

const names = (text: string | undefined) => new Set(text ? text.split(' ') : [])

export function createJudge(schema: GraphQLSchema, scene: Scene, { types }: Pick<Expectations, 'types'>): Judge {
  const reached = new Set<string>()
  const seen = new Set<string>()

  function isEntitled(who: TypeRule['who'], kind: Kind, id: unknown): boolean {
    if (who === 'everybody' || who === 'parent') return true
    if (kind === 'admin' && who !== 'self') return true
    if (who === 'admin') return false
    const owner = scene.belongings.get(String(id))
    return owner === undefined || owner === kind
  }

  /** Returns true for the caller's own account, their own asset, or anything they just created. */
  function isTheirs(kind: Kind, id: unknown): boolean {
    const owner = scene.owners.get(String(id))
    return owner === undefined || owner === kind
  }

  return {
    reached,
    wordsIn(kind, sent, told) {
      return scene.canaries.flatMap(({ what, text, sees }) => {
        if (!told.includes(text)) return []
        // A locked administrator sees nothing, not even their own data.
        if (kind !== 'anonymous' && kind !== 'locked' && sees.includes(kind)) {
          seen.add(text)
          return []
        }
        return sent.includes(text) ? [] : [`${what} is told to ${kind}`]
      })
    },
    unseen: () =>
      scene.canaries
        // Only lists return data of the other users, so those words need not appear.
        .filter(({ text, what, sees }) => sees.length > 0 && !seen.has(text) && what.startsWith('owner’s'))
        .map(({ what }) => what),
    objectsIn(kind, type, data) {
      const found: string[] = []
      function visit(at: GraphQLNamedType, value: unknown): void {
        if (Array.isArray(value)) {
          for (const item of value) visit(at, item)
          return
        }
        if (typeof value !== 'object' || value === null) return
        const object = value as Record<string, unknown>
        const named = isInterfaceType(at) ? schema.getType(String(object.__typename)) : at
        if (!isObjectType(named)) return
        const rule = types[named.name]
        const { id } = object
        if (rule && !isEntitled(rule.who, kind, id)) found.push(`${named.name} ${id} is told to ${kind}`)
        const selfFields = names(rule?.selfFields)
        const adminFields = names(rule?.adminFields)
        const fields = named.getFields()
        for (const [name, inner] of Object.entries(object)) {
          const field = fields[name]
          if (!field) continue
          reached.add(`${named.name}.${name}`)
          if (inner === null) continue
          const isRefused = (selfFields.has(name) && !isTheirs(kind, id)) || (adminFields.has(name) && kind !== 'admin')
          if (isRefused) found.push(`${named.name}.${name} of ${id} is told to ${kind}`)
          visit(getNamedType(field.type), inner)
        }
      }
      visit(type, data)
      return found
    },
  }
}

/** Returns fields and types of the schema without a rule, and rules without a field or type. */
export function missingTypeRules(schema: GraphQLSchema, { types }: Pick<Expectations, 'types'>): string[] {
  const roots = new Set(['Query', 'Mutation', 'Subscription'])
  const there = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    // A payload has the permissions of its mutation.
    .filter(({ name }) => !name.startsWith('__') && !name.endsWith('Payload') && !roots.has(name))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
  const known = Object.entries(types).flatMap(([type, { fields, selfFields, adminFields }]) =>
    [...names(fields), ...names(selfFields), ...names(adminFields)].map((field) => `${type}.${field}`),
  )
  return missingKeys(there, known)
}

/** Returns the keys that are missing in either list. */
export function missingKeys(there: readonly string[], known: readonly string[]): string[] {
  const knownSet = new Set(known)
  const thereSet = new Set(there)
  return [
    ...there.filter((key) => !knownSet.has(key)).map((key) => `Nothing says who may have ${key}.`),
    ...known.filter((key) => !thereSet.has(key)).map((key) => `Something says who may have ${key}, which is gone.`),
  ]
}
