/**
 * The data model in terms of SQL. Table and column names come from the client's runtime data model, as in Pothos.
 * Keys and relation columns come from the data model generated for Pothos.
 *
 * Neither source contains two facts, so the code assumes them. A relation refers to the other model's primary key,
 * and enum values have the same names in the database. A test checks `schema.prisma` for both.
 */
import { $Enums } from '../prisma/client.ts'
import { getDatamodel } from '../prisma/pothos-types.ts'

/** A field that refers to another model. */
export interface Relation {
  readonly list: boolean
  readonly required: boolean
  readonly model: Model
  /** Pairs of a local and a foreign column. All pairs must be equal. */
  readonly columns: readonly (readonly [string, string])[]
}

/** A field with a scalar or enum value. */
export interface Field {
  readonly name: string
  /** Prisma's type name, or `Enum` for enums. */
  readonly type: string
  readonly required: boolean
  /** Quoted column name. */
  readonly column: string
  /** Values of an enum. They have the same names in the database. */
  readonly values?: ReadonlySet<string>
}

export interface Model {
  readonly name: string
  /** Quoted table name. */
  readonly table: string
  readonly id: readonly Field[]
  readonly scalars: ReadonlyMap<string, Field>
  readonly relations: ReadonlyMap<string, Relation>
  /** Unique keys that `findUnique` and `cursor` accept: a field, or several fields under their combined name. */
  readonly uniques: ReadonlyMap<string, readonly Field[]>
}

interface RuntimeField {
  name: string
  dbName?: string | null
}

interface RuntimeDataModel {
  models: Record<string, { dbName?: string | null; fields: readonly RuntimeField[] }>
}

type Description = ReturnType<typeof getDatamodel>['datamodel']['models'][string]

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

const runtimeDataModel = (prisma: object): RuntimeDataModel => {
  const model = '_runtimeDataModel' in prisma ? prisma._runtimeDataModel : undefined
  if (typeof model !== 'object' || model === null || !('models' in model)) {
    throw new Error(
      'The Prisma client carries no data model. Adapt `reads/model.ts` to the installed version of Prisma.',
    )
  }
  return model as RuntimeDataModel
}

/** Returns all models by name. Throws if the client and the data model generated for Pothos differ. */
export const readModels = (prisma: object): ReadonlyMap<string, Model> => {
  const runtime = runtimeDataModel(prisma)
  const enums: Record<string, Record<string, string>> = $Enums
  const descriptions: Record<string, Description> = getDatamodel().datamodel.models
  const models = new Map<string, Model & { relations: Map<string, Relation> }>()

  for (const [name, { dbName, fields }] of Object.entries(runtime.models)) {
    const description = descriptions[name]
    if (!description) throw new Error(`Model ${name} is unknown to \`pothos-types.ts\`. Run \`prisma generate\`.`)
    const columns = new Map(fields.map((field) => [field.name, quote(field.dbName ?? field.name)]))
    const scalars = new Map<string, Field>()
    for (const field of description.fields) {
      const column = columns.get(field.name)
      if (field.kind === 'object' || field.isList || column === undefined) continue
      const values = field.kind === 'enum' ? known(enums[field.type], field.type) : undefined
      scalars.set(field.name, {
        name: field.name,
        type: values ? 'Enum' : field.type,
        required: field.isRequired,
        column,
        values: values && new Set(Object.values(values)),
      })
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
    for (const field of descriptions[name]?.fields ?? []) {
      if (field.kind !== 'object') continue
      const other = known(models.get(field.type), field.type)
      const back = descriptions[field.type]?.fields.find(
        // In a self-relation, the other end is the field with a different name.
        (end) => end.relationName === field.relationName && (field.type !== name || end.name !== field.name),
      )
      const forward = namesOf(field.relationFromFields)
      const backward = namesOf(back?.relationFromFields)
      // Neither end has a column: Prisma executes many-to-many relations with a join table.
      if (forward.length === 0 && backward.length === 0) continue
      const columns =
        forward.length > 0 ? pair(model, forward, other) : pair(other, backward, model).map(([a, b]) => [b, a] as const)
      model.relations.set(field.name, { list: field.isList, required: field.isRequired, model: other, columns })
    }
  }
  return models
}

const known = <T>(value: T | undefined, name: string): T => {
  if (value === undefined)
    throw new Error(`The data model names ${name} but does not describe it. Run \`prisma generate\`.`)
  return value
}

const namesOf = (fields: readonly string[] | undefined): readonly string[] => fields ?? []

const pair = (holder: Model, fields: readonly string[], target: Model) =>
  fields.map((name, at) => {
    const there = fields.length === target.id.length ? target.id[at] : undefined
    return [
      known(holder.scalars.get(name), `${holder.name}.${name}`).column,
      known(there, `the identifier that ${holder.name}.${name} refers to`).column,
    ] as const
  })
