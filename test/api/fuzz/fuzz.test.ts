/**
 * Checks that both APIs and the admin pages respond to random requests as documented. The requests are generated from the schema
 * and the tables of routes and pages. `SEED=… npx vitest run test/api/fuzz` repeats a run. Proof F28 sends many more requests.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { adminRequests, adminShapes, goodAdminRequest } from '../../../proofs/harness/fuzz-admin.ts'
import { goodGraphQLRequest, graphqlRequests, graphqlShapes } from '../../../proofs/harness/fuzz-graphql.ts'
import { complaintOf } from '../../../proofs/harness/fuzz-judge.ts'
import type { FuzzRequest } from '../../../proofs/harness/fuzz-requests.ts'
import { goodRestRequest, neverLetIn, restRequests, restShapes } from '../../../proofs/harness/fuzz-rest.ts'
import { openFuzzScene } from '../../../proofs/harness/fuzz-scene.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'
import corpus from './corpus.json' with { type: 'json' }

const app = await createTestApp({
  withChain: true,
  env: {
    LIMITS: 'requests-per-user=1000000,requests-per-address=1000000,upload=1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
  },
})
const scene = await openFuzzScene({
  url: app.url,
  async newUser(role) {
    return { ...(await app.newUser({ role, num: '1000' })), password: PASSWORD }
  },
  sql: app.sql,
})

const seed = Number.parseInt(process.env.SEED ?? '28', 16)
const numRuns = Number(process.env.RUNS ?? 1)

async function assertAnswered(request: FuzzRequest) {
  const errors = app.log.lines.length
  const answer = await scene.send(request)
  const logged = app.log.lines.slice(errors).find(({ level }) => level === 'error')
  const complaint = complaintOf(request, answer) ?? (logged && `an error was logged: ${logged.message}`)
  const found = JSON.stringify(request)
  expect(
    complaint,
    `${complaint}\n${found}\n→ ${answer.status} ${answer.text.slice(0, 500)}\nSEED=${seed.toString(16)}`,
  ).toBeUndefined()
}

it('the API handles all requests that previously caused failures', async () => {
  for (const request of corpus as unknown as FuzzRequest[]) await assertAnswered(request)
})

const targets = [
  ...graphqlShapes.map((shape) => ({
    target: shape.target,
    good: goodGraphQLRequest(shape),
    requests: graphqlRequests(shape),
  })),
  ...restShapes.map((shape) => ({ target: shape.target, good: goodRestRequest(shape), requests: restRequests(shape) })),
  ...adminShapes.map((shape) => ({
    target: shape.target,
    good: goodAdminRequest(shape),
    requests: adminRequests(shape),
  })),
]

it.each(targets)('the API responds as documented to random requests: $target', async ({ good, requests }) => {
  await assertAnswered(good)
  await fc.assert(fc.asyncProperty(requests, assertAnswered), {
    seed,
    numRuns,
    interruptAfterTimeLimit: 20_000,
    markInterruptAsFailure: false,
  })
})

it('the fuzz test sends valid requests that the API accepts, for every target', () => {
  expect(
    targets.filter(({ target }) => !scene.letIn.has(target) && !neverLetIn.has(target)).map(({ target }) => target),
  ).toEqual([])
})
