/**
 * SQL statements with named, typed parameters and columns (decision 1). In the text a parameter is `$name`. Its position and its
 * cast come from the declaration. Statements share fragments of such text.
 * `test/unit/db/statements.test.ts` prepares every statement against the migrated database.
 */

declare const carried: unique symbol

/** A type of PostgreSQL with what the driver takes for it and makes of it. */
export interface SqlType<Value> {
  /** Its name in PostgreSQL. */
  readonly type: string
  readonly [carried]?: Value
}

const typeOf = <Value>(type: string): SqlType<Value> => ({ type })

/** Written with hyphens, in lower case. */
export const uuid = typeOf<string>('uuid')
/** Text of any length, without null characters. */
export const text = typeOf<string>('text')
/** 32 bits. */
export const int = typeOf<number>('integer')
/** The largest that it holds. */
export const LARGEST_INT = 2_147_483_647
/** A text of digits as such a number; undefined for any other text, and for what is larger. */
export const readInt = (digits: string): number | undefined =>
  /^\d{1,10}$/.test(digits) && Number(digits) <= LARGEST_INT ? Number(digits) : undefined
/** 16 bits. */
export const smallint = typeOf<number>('smallint')
/** Of any size, therefore text. */
export const bigint = typeOf<string>('bigint')
/** An amount, exact, therefore text. */
export const numeric = typeOf<string>('numeric')
/** A double; never an amount. */
export const float = typeOf<number>('double precision')
/** Never null, as all of these: `orNull(boolean)` may be. */
export const boolean = typeOf<boolean>('boolean')
/** `bytea`; any `Uint8Array` as a parameter. */
export const bytes = typeOf<Buffer>('bytea')
/** A moment; as a `Date` cut to milliseconds. */
export const timestamp = typeOf<Date>('timestamp with time zone')
/** A column of what a function returns that is called for its effect. */
export const nothing = typeOf<''>('void')
/** Read as `Value`. As a parameter it is JSON text: declare it `text` and cast it where it stands. */
export const json = <Value>() => typeOf<Value>('json')
/** The same, of the type `jsonb`. */
export const jsonb = <Value>() => typeOf<Value>('jsonb')
/** A type of which only these values occur: `textOf<'NUM' | 'POINTS'>()`, or with the name of an enumeration of ours. */
export const textOf = <Value extends string>(type = 'text') => typeOf<Value>(type)
/** A type whose values may be missing. */
export const orNull = <Value>({ type }: SqlType<Value>) => typeOf<Value | null>(type)
/** A list of values of a type. */
export const arrayOf = <Value>({ type }: SqlType<Value>) => typeOf<Value[]>(`${type}[]`)

/** Types by the names of parameters or columns. */
export type Types = Readonly<Record<string, SqlType<unknown>>>
type ValueOf<Type> = Type extends SqlType<infer Value> ? Value : never
/** The row that columns declare. */
export type RowOf<Columns extends Types> = { [Name in keyof Columns]: ValueOf<Columns[Name]> }
/** What the driver takes for a value that it reads. Nothing that is asked changes it. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends Buffer
    ? Uint8Array
    : Value
/** What a statement with these parameters is asked with. */
export type ParametersOf<Parameters extends Types> = {
  readonly [Name in keyof Parameters]: Given<ValueOf<Parameters[Name]>>
}

/** How a statement is carried out. */
export interface StatementOptions {
  /** Whether it reads or counts many rows: such statements leave connections to the others. */
  readonly isList?: boolean
  /** Milliseconds until its answer is given up; 8.5 seconds when left out, and at most where it is no part of a transaction. */
  readonly patience?: number
}

/** How a write is carried out for several callers at once. */
export interface Together {
  /** Takes a list of each parameter, and `origins`; answers each row with the `place` of who asked, from 1. */
  readonly statement: Statement<never, unknown>
  /** Parameters of which no two callers may give the same: what each of them changes. */
  readonly apart: readonly string[]
}

/** One SQL statement, prepared once per connection under its name. */
export interface Statement<Parameters, Row> extends StatementOptions {
  /** Set for a write that can share a statement with other callers (decision 52). */
  readonly together?: Together
  readonly name: string
  readonly text: string
  /** In the order of their places. */
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  readonly columns: Types
  readonly [carried]?: (parameters: Parameters) => Row
}

/** What a statement is asked with, what comes back, and how it is carried out. */
export interface Declaration<Parameters extends Types, Columns extends Types> extends StatementOptions {
  /** None when left out. */
  readonly parameters?: Parameters
  /** Of its rows; none when left out. A column says itself whether it can be null: the server does not tell. */
  readonly columns?: Columns
}

const statements = new Map<string, Statement<never, unknown>>()

/**
 * What any statement may name without being asked with it: whoever carries it out fills it in. `$trace`: where what is being done
 * began (`Tracer.origin`), for work that goes on elsewhere.
 */
const ambient = { trace: orNull(text) }

/** Every statement of the modules that were loaded. */
export const allStatements = (): readonly Statement<never, unknown>[] => [...statements.values()]

const PARAMETER = /\$(\w+)/g

/**
 * Declares a statement. Raises when its text and its parameters do not name the same, and when another one has its name,
 * because connections would mistake one for the other.
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
  if (statements.has(name)) throw new Error(`Two statements are called ${name}.`)
  const made = {
    name,
    text: words.replace(
      PARAMETER,
      (_, parameter: string) => `$${names.indexOf(parameter) + 1}::${types[parameter]!.type}`,
    ),
    parameters: names.map((parameter) => ({ name: parameter, type: types[parameter]!.type })),
    columns: columns ?? {},
    ...options,
  }
  statements.set(name, made)
  return made
}

/** The two forms of a write: for one caller, and for several. */
export interface Form {
  /** The part `item`: a row for each caller, with a column for each parameter, in snake case, and `trace`. It is to be named once. */
  readonly item: string
  /** Whether a row that somebody else holds is to be passed over. Then whoever asked for it is served alone, and waits for it. */
  readonly skipsLocked: boolean
  /** To be selected first of what is answered: the place of who asked. */
  readonly place: string
}

/** A statement for many waits no longer for what somebody else holds; then its callers are served alone. */
const LONGEST_LOCK_MS = 300

const columnOf = (parameter: string) => parameter.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What a caller gave as a parameter, as a column of the row `of` that carries it on. */
export const givenSql = (of: string) => (parameter: string) => `${of}.${columnOf(parameter)}`

function oneItem(parameters: Types): Form {
  const columns = [...Object.keys(parameters), 'trace'].map((name) => `$${name} as "${columnOf(name)}"`)
  return { item: `item as (select ${columns.join(', ')})`, skipsLocked: false, place: '' }
}

function manyItems(parameters: Types): Form {
  const columns = [...Object.keys(parameters), 'trace'].map((name) => `"${columnOf(name)}"`).join(', ')
  // Of a list in a query of its own the planner knows no length: one plan serves all.
  const lists = [...Object.keys(parameters), 'origins'].map((name) => `(select $${name})`).join(', ')
  return {
    // Others than who asks for something that somebody holds are not to wait for it.
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
 * Declares a write that is carried out for several callers at once where they come together, each as if alone: whoever gets no row is
 * served again by the statement for one. `apart`: parameters of which no two of them may give the same.
 */
export function joinedStatement<Parameters extends Types, Columns extends Types>(
  name: string,
  {
    parameters,
    columns,
    apart,
  }: { parameters: Parameters; columns: Columns; apart: readonly (keyof Parameters & string)[] },
  words: (form: Form) => string,
): Statement<ParametersOf<Parameters>, RowOf<Columns>> {
  const lists = Object.entries({ ...parameters, origins: ambient.trace }).map(([each, type]) => [each, arrayOf(type)])
  const together = statement(
    `${name}_together`,
    { parameters: Object.fromEntries(lists) as Types, columns: { place: int, ...columns } },
    words(manyItems(parameters)),
  )
  const alone = statement(name, { parameters, columns }, words(oneItem(parameters)))
  return Object.assign(alone, { together: { statement: together, apart } })
}

/** What a statement is asked with; nothing where it has no parameters. */
export type Asked<Parameters> = keyof Parameters extends never ? Record<string, never> : Parameters

/** What asks a database: the rows of one statement. Every parameter is given, and nothing else. */
export interface Query {
  <Row>(statement: Statement<Record<never, never>, Row>): Promise<Row[]>
  <Parameters, Row>(statement: Statement<Parameters, Row>, parameters: Asked<NoInfer<Parameters>>): Promise<Row[]>
}

/** What is asked with, in the places of the text; `trace` is where it began, if anybody follows it. */
export const valuesOf = (
  { parameters }: Statement<never, unknown>,
  given?: unknown,
  trace: () => string | null = () => null,
): unknown[] => parameters.map(({ name }) => (name === 'trace' ? trace() : (given as Record<string, unknown>)[name]))
