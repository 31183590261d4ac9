/** Compiled mutations return exactly the executor's response, and are executed once even if their response fails. */

import fc from 'fast-check'
import { type GraphQLObjectType, getNamedType, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { answersOf, contextOf } from '../../support/compiled-answers.ts'
import { schema } from '../../support/full-api.ts'
import { selectionOf, withVariables } from '../../support/made-selections.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const other = await app.newUser()
const admin = await app.admin()
const store = await createStore(app, { owner: admin })
const closed = await createStore(app, { owner: admin })
const key = store.service['x-api-key']
const { id: asset } = await user.register({ public_access: 'true', caption: 'Shown' })
const { id: paid } = await store.order(user)
await store.confirm(user, paid)
const { id: open } = await store.order(user)

const askers = await Promise.all([
  contextOf(app, user.token, key),
  contextOf(app, user.token),
  contextOf(app, other.token, key),
  contextOf(app, admin.token, key),
  contextOf(app, undefined),
])

const repeatable = [
  `updateAssetMetadata(input: { id: "${asset}", caption: "Shown" })`,
  `updateAssetMetadata(input: { id: "nonsense", caption: "Another" })`,
  `updateAssetMetadata(input: { id: "${asset}", caption: "Another", maxCost: "0.01" })`,
  `revertAsset(input: { id: "${asset}", revertTo: "1" })`,
  `confirmOrder(input: { id: "${paid}" })`,
  `confirmOrder(input: { id: "${open}", maxCost: "0.01" })`,
  `createOrder(input: { networkApp: "${store.appId}", maxCost: "0.01" })`,
  `deactivateNetworkApp(input: { id: "${closed.appId}" })`,
  `refundOrder(input: { orderId: "${open}", reason: "Not paid." })`,
  `cancelWithdrawal(input: { id: "nonsense" })`,
  `updateProfile(input: { displayName: "Some One" })`,
]
const mutations = schema.getMutationType()!.getFields()
const payloadOf = (asked: string) => getNamedType(mutations[/^\w+/.exec(asked)![0]]!.type) as GraphQLObjectType

it.each(repeatable)(
  'a compiled mutation returns the same response as the GraphQL executor for random selections: %s',
  async (asked) => {
    let compiledOnes = 0
    let valid = 0
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(1_000_000)), async (numbers) => {
        const pick = (count: number) => numbers.next().value! % count
        const document = parse(withVariables('mutation', `{ ${asked} ${selectionOf(payloadOf(asked), pick, 3)} }`))
        if (validate(schema, document).length > 0) return
        valid += 1
        for (const asker of askers) {
          const { compiled, executed } = await answersOf(document, {}, asker)
          if (compiled === undefined) return
          expect(compiled).toBe(executed)
        }
        compiledOnes += 1
      }),
      { numRuns: Number(process.env.COMPILED_MUTATIONS_RUNS ?? 12), seed: 12, endOnFailure: true },
    )
    expect(compiledOnes).toBeGreaterThan(valid / 3)
  },
)

it('a mutation is executed and charged once even if a field of its payload fails', async () => {
  const payer = await app.newUser({ points: '0.358' })
  const { id } = await payer.register({ public_access: 'true' })
  const asked = `mutation ($id: ID!) { updateAssetMetadata(input: { id: $id, caption: "Changed once" }) {
      asset { caption refused: diff(from: "nonsense") { changes } owner { username } commits(first: 3) { nodes { message } } commitCount }
    } }`
  expect((await payer.graphql(asked, { id })).body).toMatchObject({
    data: {
      updateAssetMetadata: {
        asset: { caption: 'Changed once', refused: null, owner: { username: payer.username }, commitCount: 2 },
      },
    },
    errors: [{ path: ['updateAssetMetadata', 'asset', 'refused'], extensions: { code: 'VALIDATION_FAILED' } }],
  })
  expect(await app.commitCount(id)).toBe(2)
  expect(await app.wallet(payer)).toEqual({ num: '0', points: '0' })
})
