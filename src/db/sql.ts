/**
 * SQL statements with named, typed parameters and columns (decision 1). The text refers to a parameter as `$name`. The
 * declaration provides its position and cast. `test/unit/db/statements.test.ts` prepares every statement.
 */
import { snakeCase } from '../shared/text.ts'

declare const carried: unique symbol

/** A PostgreSQL type, by name, with the corresponding TypeScript type. */
export interface SqlType<Value> {
  readonly type: string
  readonly [carried]?: Value
}

const typeOf = <Value>(type: string): SqlType<Value> => ({ type })

export const uuid = typeOf<string>('uuid')
/** Text of any length, without null characters. */
export const text = typeOf<string>('text')
export const int = typeOf<number>('integer')
export const LARGEST_INT = 2_147_483_647
/** Parses decimal digits as a 32-bit integer. Returns undefined for other texts and larger numbers. */
export const readInt = (digits: string): number | undefined =>
  /^\d{1,10}$/.test(digits) && Number(digits) <= LARGEST_INT ? Number(digits) : undefined
export const smallint = typeOf<number>('smallint')
/** 64-bit integer, as text. */
export const bigint = typeOf<string>('bigint')
/** Exact decimal number, as text. */
export const numeric = typeOf<string>('numeric')
/** Double. Never use it for amounts. */
export const float = typeOf<number>('double precision')
export const boolean = typeOf<boolean>('boolean')
export const bytes = typeOf<Buffer>('bytea')
/** `Date`, truncated to milliseconds. */
export const timestamp = typeOf<Date>('timestamp with time zone')
/** Result column of a function that is called only for its effect. */
export const nothing = typeOf<''>('void')
/** JSON value, read as `Value`. Declare a parameter as `text` and cast it in the statement. */
export const json = <Value>() => typeOf<Value>('json')
export const jsonb = <Value>() => typeOf<Value>('jsonb')
/** A type with a fixed set of values: `textOf<'NUM' | 'POINTS'>()`. Pass the name of a database enum as `type`. */
export const textOf = <Value extends string>(type = 'text') => typeOf<Value>(type)
export const orNull = <Value>({ type }: SqlType<Value>) => typeOf<Value | null>(type)
export const arrayOf = <Value>({ type }: SqlType<Value>) => typeOf<Value[]>(`${type}[]`)

export type Types = Readonly<Record<string, SqlType<unknown>>>
type ValueOf<Type> = Type extends SqlType<infer Value> ? Value : never
export type RowOf<Columns extends Types> = { [Name in keyof Columns]: ValueOf<Columns[Name]> }
/** Read-only input type of a column type. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends Buffer
    ? Uint8Array
    : Value
export type ParametersOf<Parameters extends Types> = {
  readonly [Name in keyof Parameters]: Given<ValueOf<Parameters[Name]>>
}

interface StatementOptions {
  /** True if the statement reads or counts many rows. Such statements leave some connections to other statements. */
  readonly isList?: boolean
  /** Response timeout, in milliseconds. Default: 8,500. Outside a transaction, the default is also the maximum. */
  readonly patience?: number
}

/** The batch form of a write, for several callers. */
export interface Together {
  /** Each parameter is a list. `place` in a row is its caller's position, from 1. */
  readonly statement: Statement<never, unknown>
  /** Parameters that identify the changed data. Callers in one batch must have distinct values for them. */
  readonly apart: readonly string[]
}

/** An SQL statement. Each connection prepares it once, under its name. */
export interface Statement<Parameters, Row> extends StatementOptions {
  /** Set for a write that can share a statement with other callers (decision 52). */
  readonly together?: Together
  readonly name: string
  readonly text: string
  /** Parameters in the order of their positions. */
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  readonly columns: Types
  readonly [carried]?: (parameters: Parameters) => Row
}

/** Declare nullable columns with `orNull`: the server reports no nullability. */
interface Declaration<Parameters extends Types, Columns extends Types> extends StatementOptions {
  readonly parameters?: Parameters
  readonly columns?: Columns
}

const statements = new Map<string, Statement<never, unknown>>()

/**
 * Parameters that every statement may use without declaring them. `$trace` is the current trace context
 * (`Tracer.origin`), for work that another process continues.
 */
const ambient = { trace: orNull(text) }

export const allStatements = (): readonly Statement<never, unknown>[] => [...statements.values()]

const PARAMETER = /\$(\w+)/g

/**
 * Declares a statement. Throws if its text and its parameters differ, or if the name is in use: connections would
 * confuse the two prepared statements.
 */
export function statement<
  Parameters extends Types = Record<never, never>,
  Columns extends Types = Record<never, never>,
>(
  name: string,
  { parameters: declared, columns, ...options }: Declaration<Parameters, Columns>,
  words: string,
): Statement<ParametersOf<Parameters>, RowOf<Columns>> {
  const types: Types = { ...ambient, ...declared }
  const names = [...new Set([...words.matchAll(PARAMETER)].map(([, parameter]) => parameter!))]
  const unknown = names.filter((parameter) => !Object.hasOwn(types, parameter))
  const unused = Object.keys(declared ?? {}).filter((parameter) => !names.includes(parameter))
  if (unknown.length) throw new Error(`The statement ${name} does not declare: ${unknown.join(', ')}.`)
  if (unused.length) throw new Error(`The statement ${name} does not use: ${unused.join(', ')}.`)
  if (statements.has(name)) throw new Error(`Two statements have the name ${name}.`)
  const parameters = names.map((parameter) => ({ name: parameter, type: types[parameter]!.type }))
  const text = words.replace(PARAMETER, (_, used: string) => `$${names.indexOf(used) + 1}::${types[used]!.type}`)
  const made = { name, text, parameters, columns: columns ?? {}, ...options }
  statements.set(name, made)
  return made
}

/** The SQL parts in which the two forms of a write differ: for one caller, and for several. */
interface Form {
  /** The CTE `item`: a row per caller, with `trace` and the parameters in snake case. Refer to it exactly once. */
  readonly item: string
  /** True if the statement skips locked rows. The caller of a skipped row runs alone and waits for the lock. */
  readonly skipsLocked: boolean
  /** First column of the result: the caller's position in the batch. */
  readonly place: string
}

/** Lock timeout of a batch, in milliseconds. After a timeout, each caller runs alone. */
const LONGEST_LOCK_MS = 300

/** Returns a function that returns the column of a parameter in the row `of`. */
export const givenSql = (of: string) => (parameter: string) => `${of}.${snakeCase(parameter)}`

function oneItem(parameters: Types): Form {
  const columns = [...Object.keys(parameters), 'trace'].map((name) => `$${name} as "${snakeCase(name)}"`)
  return { item: `item as (select ${columns.join(', ')})`, skipsLocked: false, place: '' }
}

function manyItems(parameters: Types): Form {
  const columns = [...Object.keys(parameters), 'trace'].map((name) => `"${snakeCase(name)}"`).join(', ')
  // The planner does not see the length of a list in a subquery, so one plan serves all lengths.
  const lists = [...Object.keys(parameters), 'origins'].map((name) => `(select $${name})`).join(', ')
  return {
    // A short lock timeout prevents one locked row from delaying the other callers.
    item: `item as (
      select ${columns}, place::int
      from (select set_config('lock_timeout', '${LONGEST_LOCK_MS}ms', true)) as patience,
        unnest(${lists}) with ordinality as list (${columns}, place)
    )`,
    skipsLocked: true,
    place: 'place,',
  }
}

/**
 * Declares a write that can run for several callers in one statement, with the same results as separate statements. A
 * caller without a row runs again alone. `apart`: parameters that must be distinct within a batch.
 */
export function joinedStatement<Parameters extends Types, Columns extends Types>(
  name: string,
  declaration: { parameters: Parameters; columns: Columns; apart: readonly (keyof Parameters & string)[] },
  words: (form: Form) => string,
): Statement<ParametersOf<Parameters>, RowOf<Columns>> {
  const { parameters, columns, apart } = declaration
  const lists = Object.entries({ ...parameters, origins: ambient.trace }).map(([each, type]) => [each, arrayOf(type)])
  const together = statement(
    `${name}_together`,
    { parameters: Object.fromEntries(lists) as Types, columns: { place: int, ...columns } },
    words(manyItems(parameters)),
  )
  const alone = statement(name, { parameters, columns }, words(oneItem(parameters)))
  return Object.assign(alone, { together: { statement: together, apart } })
}

export type ArgumentsOf<Parameters> = keyof Parameters extends never ? Record<string, never> : Parameters

export interface Query {
  <Row>(statement: Statement<Record<never, never>, Row>): Promise<Row[]>
  <Parameters, Row>(statement: Statement<Parameters, Row>, parameters: ArgumentsOf<NoInfer<Parameters>>): Promise<Row[]>
}

/** Returns the values in the order of their positions. `trace` returns the trace context, or null without tracing. */
export const valuesOf = (
  { parameters }: Statement<never, unknown>,
  given?: unknown,
  trace: () => string | null = () => null,
): unknown[] => parameters.map(({ name }) => (name === 'trace' ? trace() : (given as Record<string, unknown>)[name]))
