/** From Prisma's arguments to one SQL statement. Values never become text, and names come from the data model only. */
import { createHash } from 'node:crypto'
import { decodeRow, decodeRows, type Row } from './decode.ts'
import type { Model } from './model.ts'
import { compilePage } from './page.ts'
import { type Draft, from, newScope, type Parameter } from './scope.ts'
import { compileSelection, rowOf } from './select.ts'
import { type Arguments, unsupported } from './shape.ts'
import { all, compileUnique, compileWhere } from './where.ts'

export const readMethods = [
  'findFirst',
  'findFirstOrThrow',
  'findMany',
  'findUnique',
  'findUniqueOrThrow',
  'count',
] as const

export type ReadMethod = (typeof readMethods)[number]

/** A statement for every read of one shape. */
export interface Compiled {
  /** The same for the same text in each process. */
  readonly name: string
  readonly text: string
  readonly parameters: readonly Parameter[]
  /** Prisma's answer, from rows of one column; undefined when a row was asked for and there is none. */
  readonly decode: (rows: Row[]) => unknown
}

/** Raises `unsupported`. */
export const compile = (model: Model, method: ReadMethod, args: Arguments): Compiled => {
  const draft: Draft = { parameters: [], aliases: 0 }
  const { text, decode } =
    method === 'count' ? compileCount(draft, model, args) : compileFind(draft, model, method, args)
  const name = `read_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
  return { name, text, parameters: draft.parameters, decode }
}

const compileCount = (draft: Draft, model: Model, args: Arguments) => {
  if (Object.keys(args).some((key) => key !== 'where' && args[key] !== undefined)) throw unsupported
  const scope = newScope(draft, model)
  const where = compileWhere(scope, args.where, ['where'])
  return {
    text: `select count(*)::text from ${from(scope)} where ${where}`,
    decode: (rows: Row[]) => Number(rows[0]?.[0]),
  }
}

const compileFind = (draft: Draft, model: Model, method: Exclude<ReadMethod, 'count'>, args: Arguments) => {
  const scope = newScope(draft, model)
  const columns: string[] = []
  const shape = compileSelection(scope, args, [], columns)
  const unique = method === 'findUnique' || method === 'findUniqueOrThrow'
  if (unique && Object.keys(args).some((key) => !uniqueArguments.has(key) && args[key] !== undefined)) throw unsupported
  const where = (unique ? compileUnique : compileWhere)(scope, args.where, ['where'])
  const page = compilePage(scope, args, [], method !== 'findMany')
  const conditions = all([where, page.condition])
  const text = `select ${rowOf(columns)} from ${from(scope)} where ${conditions}${page.clauses}`
  if (method === 'findMany') {
    return { text, decode: (rows: Row[]) => decodeRows(shape, rows.map(onlyColumn), page.reverse) }
  }
  return { text, decode: (rows: Row[]) => (rows[0] ? decodeRow(shape, onlyColumn(rows[0])) : undefined) }
}

const uniqueArguments = new Set(['select', 'include', 'where'])

const onlyColumn = (row: Row): Row => row[0] as Row
