/** Checks the declared parameters and columns of every statement against the migrated database. */
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { statement, uuid } from '../../../src/db/sql.ts'
import { declaredStatements } from '../../support/declared-statements.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const statements = await declaredStatements()

interface Field {
  name: string
  dataTypeID: number
}

class Description implements pg.Submittable {
  readonly name = ''
  readonly described = Promise.withResolvers<Field[]>()
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  submit(connection: pg.Connection) {
    const raw = connection as unknown as Record<string, (message?: unknown) => void>
    raw.parse!({ name: '', text: this.text, types: [] })
    raw.describe!({ type: 'S', name: '' })
    raw.sync!()
  }

  private fields: Field[] = []
  handleRowDescription({ fields }: { fields: Field[] }) {
    this.fields = fields
  }
  handleError(error: Error) {
    this.described.reject(error)
  }
  handleReadyForQuery() {
    this.described.resolve(this.fields)
  }
}

const { client } = await createOwnDatabase()
const { rows: types } = await client.query<{ oid: number; name: string }>(
  'select oid, format_type(oid, null) as name from pg_type',
)
const names = new Map(types.map(({ oid, name }) => [oid, name]))

describe('SQL statements', () => {
  it('the list of SQL statements is not empty', () => {
    expect(statements.length).toBeGreaterThan(0)
  })

  it.each(statements.map((statement) => [statement.name, statement] as const))(
    'the SQL statement %s has the declared parameters and columns',
    async (name, { text, parameters, columns }) => {
      await client.query(`prepare "${name}" as ${text}`)
      const { rows } = await client.query<{ types: string }>(
        'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
        [name],
      )
      expect(rows[0]!.types).toEqual(parameters.map(({ type }) => type))
      const description = new Description(text)
      client.query(description)
      const found = (await description.described.promise).map(({ name, dataTypeID }) => [name, names.get(dataTypeID)])
      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries(Object.entries(columns).map(([column, { type }]) => [column, type])),
      )
    },
  )
})

describe('statement declarations', () => {
  it('rejects a SQL statement with undeclared or unused parameters', () => {
    const declare = (words: string) => () => statement('test_unlike', { parameters: { owner: uuid } }, words)
    expect(declare('select $owner, $other')).toThrow('The statement test_unlike does not declare: other.')
    expect(declare('select 1')).toThrow('The statement test_unlike does not use: owner.')
  })

  it('rejects two SQL statements with the same name', () => {
    statement('test_twice', {}, 'select')
    expect(() => statement('test_twice', {}, 'select')).toThrow('Two statements have the name test_twice.')
  })
})

const changing = {
  wallets: ['num', 'points', 'event_sequence'],
  assets: ['caption', 'headline', 'custom', 'head_sequence', 'head_commit_id', 'updated_at'],
}

it('no index contains a column that changes with every charge or commit, so updates stay HOT', async () => {
  for (const [table, names] of Object.entries(changing)) {
    const { rows } = await client.query<{ index: string }>(
      'select pg_get_indexdef(indexrelid) as index from pg_index where indrelid = $1::regclass',
      [table],
    )
    expect(rows.length).toBeGreaterThan(2)
    const inTheWay = new RegExp(`[("\\s](${names.join('|')})\\b`)
    // After the name of the index.
    const complaints = rows.map(({ index }) => index.replace(/^.* USING /, '')).filter((index) => inTheWay.test(index))
    expect(complaints, `${table}: HOT updates end with an index on ${names.join(', ')}`).toEqual([])
  }
})
