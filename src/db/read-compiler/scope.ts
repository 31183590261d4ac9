/** A table in the making of a statement: its alias, what is joined to it, and where its parameters come from. */
import type { Field, Model, Relation } from './model.ts'
import { unsupported } from './shape.ts'
import type { Encode } from './values.ts'

/** Where an argument stands, from the outermost object inwards. */
export type Path = readonly (string | number)[]

/** A value that is found in the arguments when a statement is asked, and made fit for PostgreSQL. */
export interface Parameter {
  readonly path: Path
  readonly encode: Encode
}

/** What is common to a whole statement. */
export interface Draft {
  readonly parameters: Parameter[]
  aliases: number
  /** Whether many rows are read or counted, at any depth. */
  isList: boolean
}

/** One table with the rows joined to it: never more rows than the table itself has. */
export interface Scope {
  readonly draft: Draft
  readonly model: Model
  readonly alias: string
  /** LEFT JOINs, shared by every use of a relation within the scope of one FROM. */
  readonly joins: Map<string, { scope: Scope; sql: string }>
}

/** Another table in the same statement, under an alias of its own. */
export const newScope = (draft: Draft, model: Model, joins: Scope['joins'] = new Map()): Scope => {
  draft.aliases += 1
  return { draft, model, alias: `t${draft.aliases}`, joins }
}

/** A column of the table as SQL has it. */
export const columnOf = ({ alias }: Scope, field: Field): string => `${alias}.${field.column}`

/** A new parameter; returns its place as SQL has it. */
export const parameter = (draft: Draft, path: Path, encode: Encode): string => {
  draft.parameters.push({ path, encode })
  return `$${draft.parameters.length}`
}

/** A relation by its field's name. Raises `unsupported` when the model has none. */
export const relationOf = (model: Model, name: string): Relation => {
  const relation = model.relations.get(name)
  if (!relation) throw unsupported
  return relation
}

/** The condition that ties rows of `there` to rows of `here`. */
export const link = (relation: Relation, here: string, there: string): string =>
  relation.columns.map(([near, far]) => `${there}.${far} = ${here}.${near}`).join(' and ')

/** The scope of a to-one relation, joined once. */
export const join = (scope: Scope, name: string): Scope => {
  const key = `${scope.alias}.${name}`
  const known = scope.joins.get(key)
  if (known) return known.scope
  const relation = relationOf(scope.model, name)
  const joined = newScope(scope.draft, relation.model, scope.joins)
  const on = link(relation, scope.alias, joined.alias)
  scope.joins.set(key, { scope: joined, sql: ` left join ${relation.model.table} ${joined.alias} on ${on}` })
  return joined
}

/** Ask for it last: whatever is compiled before may have joined. */
export const from = (scope: Scope): string =>
  `${scope.model.table} ${scope.alias}${[...scope.joins.values()].map((entry) => entry.sql).join('')}`

/** Whether a to-one relation is there. */
export const present = (scope: Scope): string => `${scope.alias}.${scope.model.id[0]?.column} is not null`
