/**
 * Statements whose parameters and rows have names and types (decision 22). A part of SQL knows the parameters that stand in
 * it, so parts are put into each other, and the compiler knows what a whole statement needs. A parameter says its type of
 * PostgreSQL, and so does a column: `test/platform/statements.test.ts` holds every statement against the migrated database.
 */

declare const carried: unique symbol

/** A value that a statement is asked with, by name. */
export interface Parameter<Name extends string, Value> {
  readonly parameter: Name
  /** Its type in PostgreSQL. */
  readonly type: string
  readonly [carried]?: Value
}

/** A type of PostgreSQL with what the driver makes of it. Called with a name it is a parameter. */
export interface SqlType<Value> {
  <Name extends string>(name: Name): Parameter<Name, Value>
  readonly type: string
  readonly isNullable: boolean
  readonly orNull: SqlType<Value | null>
  readonly [carried]?: Value
}

const typeOf = <Value>(type: string, isNullable = false): SqlType<Value> => {
  const made = <Name extends string>(parameter: Name): Parameter<Name, Value> => ({ parameter, type })
  // A getter, because the type of what may be null has one, too.
  return Object.defineProperties(made, {
    type: { value: type },
    isNullable: { value: isNullable },
    orNull: { get: () => typeOf<Value | null>(type, true) },
  }) as SqlType<Value>
}

export const uuid = typeOf<string>('uuid')
export const text = typeOf<string>('text')
export const int = typeOf<number>('integer')
/** Of any size, therefore text. */
export const bigint = typeOf<string>('bigint')
/** An amount, exact, therefore text. */
export const numeric = typeOf<string>('numeric')
export const float = typeOf<number>('double precision')
export const boolean = typeOf<boolean>('boolean')
export const bytes = typeOf<Buffer>('bytea')
export const timestamp = typeOf<Date>('timestamp with time zone')
/** Read as `Value`; sent as its text, because the driver makes PostgreSQL's own arrays of JavaScript's. */
export const json = <Value>() => typeOf<Value>('jsonb')
/** `type`: its name in the database. */
export const enumeration = <Value extends string>(type: string) => typeOf<Value>(type)
/** Text of which only these values occur. */
export const textOf = <Value extends string>() => typeOf<Value>('text')
export const arrayOf = <Value>({ type }: SqlType<Value>) => typeOf<readonly Value[]>(`${type}[]`)

/** Of parameters: none. */
export type None = Record<never, never>

/** A part of a statement, with the parameters that stand in it. */
export interface Sql<Parameters = None> {
  readonly parts: readonly (string | Parameter<string, unknown>)[]
  readonly [carried]?: Parameters
}

type Part = Sql<never> | Sql | Parameter<string, never> | Parameter<string, unknown> | number
type ParametersOf<Piece> =
  Piece extends Parameter<infer Name, infer Value>
    ? { readonly [Key in Name]: Value }
    : Piece extends Sql<infer Parameters>
      ? Parameters
      : None
type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
/** As one object, which the compiler shows in one piece. */
type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** Text that becomes a part as it is: the name of a table or an alias. Never what came from outside. */
export const raw = (words: string): Sql => ({ parts: [words] })

/** A part of SQL. Parameters and parts stand where they are put; a number is a constant. */
export function sql<const Pieces extends readonly Part[]>(
  strings: TemplateStringsArray,
  ...pieces: Pieces
): Sql<Together<ParametersOf<Pieces[number]>>> {
  const partsOf = (piece: Part) =>
    typeof piece === 'number' ? [String(piece)] : 'parts' in piece ? piece.parts : [piece as Parameter<string, unknown>]
  return {
    parts: strings.flatMap((string, index) => [string, ...(index < pieces.length ? partsOf(pieces[index]!) : [])]),
  }
}

/** The same parts in a row. */
export const joined = <Parameters>(parts: readonly Sql<Parameters>[], between: string): Sql<Parameters> => ({
  parts: parts.flatMap((part, index) => (index === 0 ? part.parts : [between, ...part.parts])),
})

type Columns = Readonly<Record<string, SqlType<unknown>>>
export type RowOf<Of extends Columns> = { [Key in keyof Of]: Of[Key] extends SqlType<infer Value> ? Value : never }

export interface StatementOptions {
  /** Whether it reads or counts many rows: such statements leave connections to the others. */
  readonly isList?: boolean
  /** Milliseconds until its answer is given up; a few seconds when left out. */
  readonly patience?: number
}

/** One SQL statement, prepared once per connection under its name. */
export interface Statement<Parameters, Row> extends StatementOptions {
  readonly name: string
  readonly text: string
  readonly parameters: readonly Parameter<string, unknown>[]
  readonly columns: Columns
  readonly [carried]?: (parameters: Parameters) => Row
}

const statements = new Map<string, Statement<never, unknown>>()

/** Every statement of the modules that were loaded. */
export const allStatements = (): readonly Statement<never, unknown>[] => [...statements.values()]

/** Each parameter once, in the order in which they stand first, and the text with their places. */
function place(name: string, parts: Sql['parts']) {
  const parameters = new Map<string, { place: number; type: string; parameter: Parameter<string, unknown> }>()
  const words = parts.map((part) => {
    if (typeof part === 'string') return part
    const known = parameters.get(part.parameter)
    if (known && known.type !== part.type) {
      throw new Error(`${name}: the parameter ${part.parameter} is ${known.type} and ${part.type}.`)
    }
    const at = known?.place ?? parameters.size + 1
    if (!known) parameters.set(part.parameter, { place: at, type: part.type, parameter: part })
    return `$${at}::${part.type}`
  })
  return { text: words.join(''), parameters: [...parameters.values()].map(({ parameter }) => parameter) }
}

/**
 * A statement of this name. `columns`: what its rows have, `{}` when it returns none.
 * Raises when another statement has the name, because connections would mistake one for the other.
 */
export function statement<Of extends Columns, Parameters>(
  name: string,
  columns: Of,
  { parts }: Sql<Parameters>,
  options: StatementOptions = {},
): Statement<Flat<Parameters>, RowOf<Of>> {
  if (statements.has(name)) throw new Error(`Two statements are called ${name}.`)
  const made = { name, ...place(name, parts), columns, ...options }
  statements.set(name, made)
  return made
}

/** A statement whose parameters go by their places. On its way out. */
export interface PositionalStatement<Row> extends StatementOptions {
  readonly name: string
  readonly text: string
  readonly parameters?: undefined
  /** Never set; carries the row's type. */
  readonly row?: Row
}

/** What asks a database: the rows of one statement. Every parameter is given, and nothing else. */
export interface Query {
  <Row>(statement: Statement<None, Row>): Promise<Row[]>
  <Parameters, Row>(statement: Statement<Parameters, Row>, parameters: NoInfer<Parameters>): Promise<Row[]>
  <Row>(statement: PositionalStatement<Row>, values?: readonly unknown[]): Promise<Row[]>
}

export type AnyStatement = Statement<never, unknown> | PositionalStatement<unknown>

/** What is asked with, in the places of the text. */
export const valuesOf = ({ parameters }: AnyStatement, given: unknown = []): unknown[] =>
  parameters
    ? parameters.map(({ parameter }) => (given as Record<string, unknown>)[parameter])
    : [...(given as readonly unknown[])]
