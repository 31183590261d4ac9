/**
 * What may come from a replica (decision 44), all of it: every field of every model that is read, every statement, every operation. What
 * is not named here must not; a new one is to be thought about first.
 */
import { PrismaPg } from '@prisma/adapter-pg'
import { getOperationAST, parse } from 'graphql'
import { expect, it } from 'vitest'
import { mayLag } from '../../src/graphql/lagging.ts'
import { schema } from '../../src/graphql/schema.ts'
import { PrismaClient } from '../../src/platform/prisma/client.ts'
import { compile } from '../../src/platform/reads/compile.ts'
import { type Model, readModels } from '../../src/platform/reads/model.ts'
import { declaredStatements } from '../support/declared-statements.ts'
import { directRoutes } from '../support/route-tables.ts'

const statements = await declaredStatements()
const models = readModels(
  new PrismaClient({ adapter: new PrismaPg({ connectionString: 'postgresql://nobody@127.0.0.1:9/none' }) }),
)
const all = (name: string) => [...models.get(name)!.scalars.keys()]

/** What strangers see of public things, and beside it one's own address and how many assets one has. */
const shown: Record<string, readonly string[]> = {
  Asset: all('Asset'),
  AssetBlock: all('AssetBlock'),
  Commit: all('Commit'),
  Pin: all('Pin'),
  CommitRelay: ['commitId', 'status', 'treeSignature', 'transactionHash', 'blockNumber', 'gasUsed', 'feePaid'],
  User: ['id', 'username', 'displayName', 'description', 'email', 'assetCount', 'createdAt', 'deletedAt'],
  Wallet: ['userId', 'address'],
}
const isShown = (model: string, field: string) => shown[model]?.includes(field) ?? false

const readMayLag = (model: Model, args: object) => compile(model, 'findFirst', args as never).mayLag
const fields = [...models.values()].flatMap((model) => [...model.scalars.values()].map((field) => ({ model, field })))

it('a read is the primary’s that selects anything but what everybody is shown', () => {
  expect(fields.length).toBeGreaterThan(200)
  for (const { model, field } of fields) {
    const place = `${model.name}.${field.name}`
    expect(readMayLag(model, { select: { [field.name]: true } }), place).toBe(isShown(model.name, field.name))
  }
})

it('nor may it filter or sort by anything else', () => {
  const values: Record<string, unknown> = { String: 'x', Boolean: true, Int: 1, BigInt: 1n, DateTime: new Date() }
  for (const { model, field } of fields) {
    const wanted = isShown(model.name, field.name)
    const select = { [model.id[0]!.name]: true }
    const place = `${model.name}.${field.name}`
    if (field.type in values) {
      expect(readMayLag(model, { select, where: { [field.name]: values[field.type] } }), place).toBe(wanted)
    }
    if (field.type !== 'Json')
      expect(readMayLag(model, { select, orderBy: { [field.name]: 'asc' } }), place).toBe(wanted)
  }
})

it('nor may anything else hang on it', () => {
  for (const model of models.values()) {
    if (!shown[model.name]) continue
    for (const [name, { model: other, list }] of model.relations) {
      for (const field of other.scalars.keys()) {
        const select = { [name]: { select: { [field]: true } } }
        expect(readMayLag(model, { select }), `${model.name}.${name}.${field}`).toBe(isShown(other.name, field))
      }
      if (!list) continue
      const counted = { select: { _count: { select: { [name]: true } } } }
      expect(readMayLag(model, counted), `${model.name}.${name}`).toBe(other.name in shown)
    }
  }
})

it('no balance, price, charge or secret is among it', () => {
  const amounts = fields
    .filter(({ field }) => field.type === 'Decimal')
    .map(({ model, field }) => `${model.name}.${field.name}`)
  const names = Object.entries(shown).flatMap(([model, each]) => each.map((field) => `${model}.${field}`))
  // What a transaction took of the chain, which stands there for everybody.
  expect(names.filter((name) => amounts.includes(name))).toEqual(['CommitRelay.feePaid'])
  expect(names.filter((name) => /hash|secret|token|sealed|role|locked|password|num$|points/i.test(name))).toEqual([
    'CommitRelay.transactionHash',
  ])
})

it('of the statements these, which read tables of assets alone, and change and lock nothing', () => {
  const lagging = statements.filter(({ mayLag }) => mayLag)
  expect(lagging.map(({ name }) => name).sort()).toEqual([
    'asset_pin_find',
    'block_find',
    'trees_find',
    'trees_read',
    'version_head',
    'version_place',
    'version_place_at',
    'versions_read',
  ])
  const open = ['assets', 'commits', 'commit_relays', 'pins', 'asset_blocks']
  const own = ['place', 'search', 'jsonb_each', 'unnest']
  for (const { name, text } of lagging) {
    const tables = [...text.matchAll(/\b(?:from|join)\s+([a-z_]+)/g)].map(([, table]) => table!)
    expect(tables.length, name).toBeGreaterThan(0)
    expect(
      tables.filter((table) => ![...open, ...own].includes(table)),
      name,
    ).toEqual([])
    expect(text, name).not.toMatch(/\b(insert|update|delete|nextval|setval|now|clock_timestamp|advisory|notify)\b/i)
  }
})

it('of the operations these, which show something and decide nothing', () => {
  const isLagging = (text: string) => {
    const document = parse(text)
    return mayLag(document, getOperationAST(document)!)
  }
  const names = Object.keys(schema.getQueryType()!.getFields())
  const showing = names.filter((name) => isLagging(`{ ${name} }`))
  expect(showing.sort()).toEqual(['asset', 'assets', 'lookup', 'me', 'mergedAssetTree', 'node'])
  expect(isLagging('{ me { id } ...more } fragment more on Query { lookup { totalCount } }')).toBe(true)
  expect(isLagging('{ me { id } ...more } fragment more on Query { pricing { gasFee } }')).toBe(false)
  expect(isLagging('{ me { id } ... on Query { quote(input: {}) { total } } }')).toBe(false)
  expect(isLagging('mutation { me }')).toBe(false)
  expect(isLagging('subscription { me }')).toBe(false)
  expect(directRoutes.filter(({ mayLag }) => mayLag).map(({ path }) => path)).toEqual(['/ipfs/:cid'])
})
