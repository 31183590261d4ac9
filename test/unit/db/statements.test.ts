/** Every statement is what it says, in the migrated database: its parameters, and the columns of its rows. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { arrayOf, int, orNull, type Query, statement, timestamp, uuid } from '../../../src/db/sql.ts'
import { enqueueSql } from '../../../src/jobs/enqueue-sql.ts'
import { accountMailSql } from '../../../src/modules/accounts/mailed-links.ts'
import { declaredStatements } from '../../support/declared-statements.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

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

let database: TestDatabase
let client: pg.Client
const names = new Map<number, string>()

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ oid: number; name: string }>(
    'select oid, format_type(oid, null) as name from pg_type',
  )
  for (const { oid, name } of rows) names.set(oid, name)
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('a SQL statement', () => {
  it('exists', () => {
    expect(statements.length).toBeGreaterThan(0)
  })

  it.each(statements.map((statement) => [statement.name, statement] as const))(
    '%s has the declared parameters and columns',
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

describe('a statement declaration', () => {
  it('declares the parameters of its text', () => {
    const declare = (words: string) => () => statement('test_unlike', { parameters: { owner: uuid } }, words)
    expect(declare('select $owner, $other')).toThrow('The statement test_unlike does not declare: other.')
    expect(declare('select 1')).toThrow('The statement test_unlike does not use: owner.')
  })

  it('has a unique name', () => {
    statement('test_twice', {}, 'select')
    expect(() => statement('test_twice', {}, 'select')).toThrow('Two statements are called test_twice.')
  })
})

const forTheCompiler = async (query: Query) => {
  const parameters = { owner: uuid, limit: int, ids: arrayOf(uuid) }
  const list = statement(
    'test_a_list',
    { parameters, columns: { at: orNull(timestamp) } },
    'select $owner, $limit, $ids',
  )
  const all = statement('test_all', {}, 'select')
  const [row] = await query(list, { owner: '', limit: 1, ids: [] as readonly string[] })
  row!.at satisfies Date | null
  await query(all)
  // @ts-expect-error one is forgotten
  await query(list, { owner: '', limit: 1 })
  // @ts-expect-error all are forgotten
  await query(list)
  // @ts-expect-error one too many
  await query(list, { owner: '', limit: 1, ids: [], more: 1 })
  // @ts-expect-error one where there is none
  await query(all, { more: 1 })
  // @ts-expect-error misspelt
  await query(list, { ownr: '', limit: 1, ids: [] })
  // @ts-expect-error of another type
  await query(list, { owner: '', limit: '1', ids: [] })
  // @ts-expect-error not selected
  row!.id satisfies string
}

it('accepts each parameter once by name, and no unknown parameter', () => {
  expect(forTheCompiler).toHaveLength(1)
})

describe('a job inserted by SQL', () => {
  it('is queued with its data, its lane and its due time', () => {
    const data = { deliveryId: 'id' }
    const sql = enqueueSql('queued', { queue: 'webhook-delivery', from: 'due', data, group: 'app', startAfter: 'at' })
    const payload = `jsonb_build_object('deliveryId', id) || jsonb_strip_nulls(jsonb_build_object('trace', $trace))`
    const call = `enqueue('webhook-delivery', ${payload}, lane => app::text, due => at)`
    expect(sql.replace(/\s+/g, ' ').trim()).toBe(`queued as materialized ( select ${call} from due )`)
  })

  it('carries only the data of its queue', () => {
    const forTheCompiler = () => [
      enqueueSql('queued', { queue: 'mail', from: 'paid', data: { template: `'sale'`, orderId: 'id' } }),
      // @ts-expect-error there is no such queue
      enqueueSql('queued', { queue: 'mails', from: 'paid', data: { template: `'sale'`, orderId: 'id' } }),
      // @ts-expect-error something is forgotten
      enqueueSql('queued', { queue: 'mail', from: 'paid', data: { orderId: 'id' } }),
      // @ts-expect-error something is misspelt
      enqueueSql('queued', { queue: 'mail', from: 'paid', data: { template: `'sale'`, order: 'id' } }),
      // @ts-expect-error another queue's
      enqueueSql('queued', { queue: 'thumbnail', from: 'made', data: { deliveryId: 'id' } }),
      accountMailSql({ from: 'made', template: 'email-verification', facts: { userId: 'id' } }),
      // @ts-expect-error another mail's
      accountMailSql({ from: 'made', template: 'password-reset', facts: { userId: 'id' } }),
    ]
    expect(forTheCompiler).not.toThrow()
  })
})

const changing = {
  wallets: ['num', 'points', 'event_sequence'],
  assets: ['caption', 'headline', 'custom', 'head_sequence', 'head_commit_id', 'updated_at'],
}

it('columns that change with every charge or commit are in no index, so updates stay HOT', async () => {
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
