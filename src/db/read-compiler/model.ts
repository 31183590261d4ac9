/**
 * The data model in terms of SQL, from the client's runtime data model and the data model generated for Pothos. A test
 * checks two assumptions: relations refer to primary keys, and enum values have the same names in the database.
 */
import { $Enums } from '../prisma/client.ts'
import { getDatamodel } from '../prisma/pothos-types.ts'

export interface Relation {
  readonly list: boolean
  readonly required: boolean
  readonly model: Model
  /** Pairs of a local and a foreign column. All pairs must be equal. */
  readonly columns: readonly (readonly [string, string])[]
}

export interface Field {
  readonly name: string
  /** Prisma's type name, or `Enum` for enums. */
  readonly type: string
  readonly required: boolean
  /** Quoted, like the names of tables. */
  readonly column: string
  readonly values: ReadonlySet<string> | undefined
}

export interface Model {
  readonly name: string
  readonly table: string
  readonly id: readonly Field[]
  readonly scalars: ReadonlyMap<string, Field>
  readonly relations: Map<string, Relation>
  /** Unique keys that `findUniqueOrThrow` and `cursor` accept: a field, or several fields under their combined name. */
  readonly uniques: ReadonlyMap<string, readonly Field[]>
}

/** Undocumented state of Prisma's client. */
interface Runtime {
  _runtimeDataModel: {
    models: Record<string, { dbName?: string | null; fields: readonly { name: string; dbName?: string | null }[] }>
  }
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Returns all models by name. Throws if the client and the data model generated for Pothos differ. */
export const readModels = (prisma: object): ReadonlyMap<string, Model> => {
  const enums: Record<string, Record<string, string>> = $Enums
  const descriptions: ReturnType<typeof getDatamodel>['datamodel']['models'] = getDatamodel().datamodel.models
  const models = new Map<string, Model>()

  for (const [name, { dbName, fields }] of Object.entries((prisma as Runtime)._runtimeDataModel.models)) {
    const description = known(descriptions[name], name)
    const columns = new Map(fields.map((field) => [field.name, quote(field.dbName ?? field.name)]))
    const scalars = new Map<string, Field>()
    for (const { kind, type, name: field, isList, isRequired: required } of description.fields) {
      const column = columns.get(field)
      if (kind === 'object' || isList || column === undefined) continue
      const values = kind === 'enum' ? new Set(Object.values(known(enums[type], type))) : undefined
      scalars.set(field, { name: field, type: values ? 'Enum' : type, required, column, values })
    }
    const pick = (names: readonly string[]) => names.map((field) => known(scalars.get(field), `${name}.${field}`))
    const single = description.fields.filter((field) => field.isId || field.isUnique)
    const uniques = new Map(single.map((field) => [field.name, pick([field.name])]))
    for (const key of [description.primaryKey, ...description.uniqueIndexes]) {
      if (key) uniques.set(key.name ?? key.fields.join('_'), pick(key.fields))
    }
    const id = pick(description.primaryKey?.fields ?? single.filter((field) => field.isId).map((field) => field.name))
    models.set(name, { name, table: quote(dbName ?? name), id, scalars, relations: new Map(), uniques })
  }

  for (const [name, model] of models) {
    for (const field of descriptions[name]!.fields) {
      if (field.kind !== 'object') continue
      const other = known(models.get(field.type), field.type)
      const back = descriptions[field.type]!.fields.find(
        // In a self-relation, the other end is the field with a different name.
        (end) => end.relationName === field.relationName && (field.type !== name || end.name !== field.name),
      )
      const forward = pair(model, field.relationFromFields, other)
      const backward = pair(other, back?.relationFromFields, model).map(([there, here]) => [here, there] as const)
      const columns = forward.length > 0 ? forward : backward
      model.relations.set(field.name, { list: field.isList, required: field.isRequired, model: other, columns })
    }
  }
  return models
}

const known = <T>(value: T | undefined, name: string): T => {
  if (value !== undefined) return value
  throw new Error(`The data model names ${name} but does not describe it. Run \`prisma generate\`.`)
}

const pair = (holder: Model, fields: readonly string[] | undefined = [], target: Model) =>
  fields.map((name, at) => {
    const { column } = known(holder.scalars.get(name), `${holder.name}.${name}`)
    return [column, known(target.id[at], `the identifier that ${holder.name}.${name} refers to`).column] as const
  })
