/**
 * Fields that fail together, later, nested and in lists. Errors after the response must still be handled: Node.js ends the
 * process on an unhandled rejection.
 */
import fc from 'fast-check'
import {
  execute,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  getOperationAST,
  parse,
} from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { guardRootFields } from '../../../src/graphql/builder.ts'
import { compileOperation } from '../../../src/graphql/fast-path/compile-operation.ts'
import { createTestApp } from '../../support/test-app.ts'

const unhandled: unknown[] = []
const note = (error: unknown) => void unhandled.push(error)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => void process.off('unhandledRejection', note))

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}
const LATEST = 5

interface Late {
  after: number
}
const fail = () => {
  throw new Error('It failed.')
}
const text = { type: GraphQLString }
const late = { args: { after: { type: new GraphQLNonNull(GraphQLInt) } } }
const Thing: GraphQLObjectType = new GraphQLObjectType({
  name: 'Thing',
  fields: () => ({
    name: { ...text, resolve: () => 'any' },
    nameLater: { ...text, ...late, resolve: (_, { after }: Late) => turns(after).then(() => 'any') },
    fails: { ...text, resolve: fail },
    failsLater: { ...text, ...late, resolve: (_, { after }: Late) => turns(after).then(fail) },
    isMissing: { type: new GraphQLNonNull(GraphQLString), resolve: () => null },
    thing: { type: Thing, resolve: () => ({}) },
    thingLater: { type: Thing, ...late, resolve: (_, { after }: Late) => turns(after).then(() => ({})) },
    things: { type: new GraphQLList(Thing), resolve: () => [{}, {}] },
  }),
})
for (const field of Object.values(Thing.getFields())) field.extensions = { ownResolver: field.resolve }
const read = () => ({})
let changes = 0
const change = () => {
  changes += 1
  return {}
}
const bare = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: { thing: { type: Thing, resolve: read, extensions: { read } } },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: { change: { type: Thing, resolve: change, extensions: { ownResolver: change } } },
  }),
})
const schema = guardRootFields(bare)

const after = fc.nat(LATEST)
const { selection } = fc.letrec<{ selection: string; field: string }>((tie) => {
  const late = (name: string) => after.map((turn) => `${name}(after: ${turn})`)
  const below = (name: fc.Arbitrary<string>) =>
    fc.tuple(name, tie('selection')).map(([field, set]) => `${field} ${set}`)
  return {
    selection: fc
      .array(tie('field'), { minLength: 1, maxLength: 4 })
      .map((fields) => `{ ${fields.map((field, index) => `f${index}: ${field}`).join(' ')} }`),
    field: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom('name', 'fails', 'isMissing'),
      late('nameLater'),
      late('failsLater'),
      below(fc.constantFrom('thing', 'things')),
      below(late('thingLater')),
    ),
  }
})

it.each([
  ['leaves failing fields of a query to the executor', 'query { thing', 0],
  ['reports failing fields of a mutation like the executor, and executes it once', 'mutation { change', 1],
])('the fast path %s, without unhandled rejections', async (_, operation, executions) => {
  let failed = 0
  const numRuns = 300
  await fc.assert(
    fc.asyncProperty(selection, async (set) => {
      const document = parse(`${operation} ${set} }`)
      const context = {} as Context
      changes = 0
      const compiled = await compileOperation(schema, document, getOperationAST(document)!)!(context, {})
      expect(changes).toBe(executions)
      const executed = await execute({ schema, document, contextValue: context })
      if (executed.errors) failed += 1
      expect(JSON.stringify(compiled)).toBe(executed.errors && executions === 0 ? undefined : JSON.stringify(executed))
      await turns(LATEST + 1)
      expect(unhandled.splice(0)).toEqual([])
    }),
    { numRuns, seed: 7, endOnFailure: true },
  )
  expect(failed).toBeGreaterThan(numRuns / 4)
  expect(failed).toBeLessThan(numRuns)
})

it('returns errors of failing GraphQL fields to the caller, without unhandled rejections', async () => {
  const app = await createTestApp()
  const user = await app.newUser()
  const { id } = await user.register({ public_access: 'true' })
  // Makes the newest commit unreadable.
  await app.sql('update assets set head_sequence = head_sequence + 1 where nid = $1', [id])
  const asked = `query ($id: ID!) { asset(id: $id) { refused: diff(from: "nonsense") { changes } missing: diff { changes } } }`
  expect((await user.graphql(asked, { id })).body).toMatchObject({
    data: { asset: { refused: null, missing: { changes: null } } },
    errors: [
      { path: ['asset', 'refused'], extensions: { code: 'VALIDATION_FAILED' } },
      { path: ['asset', 'missing', 'changes'], extensions: { code: 'NOT_FOUND' } },
    ],
  })
  await turns(LATEST)
  await app.sql('update assets set head_sequence = head_sequence - 1 where nid = $1', [id])
  expect(unhandled).toEqual([])
})
