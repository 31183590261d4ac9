/** Requests must not leave long-lived objects: V8 collects those only when it marks the whole heap. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { createRest } from '../support/rest-client.ts'
import { createSharedInstallation } from '../support/service.ts'
import { newFile, registerWith } from '../support/test-app.ts'

const AT_ONCE = 16
/** Maximum share of the allocated bytes that survive two collections. It is 0.0005, and was 0.09 or more with long-lived objects. */
const MAX_PROMOTED = 0.03

const shared = await createSharedInstallation({
  SIGN_UP_POINTS: '1000000',
  LIMITS: 'requests-per-user=1000000,sign-up=1000,sign-in=1000',
})
afterAll(shared.remove)

/** Returns the promoted share of the allocated bytes in the second half of the collections. */
function promotedShare(output: string): number {
  const collections = [...output.matchAll(/ gc=s .* allocated=(\d+) promoted=(\d+) /g)]
  const later = collections.slice(collections.length / 2)
  expect(later.length).toBeGreaterThan(5)
  const sum = (group: number) => later.reduce((total, each) => total + Number(each[group]), 0)
  return sum(2) / sum(1)
}

const read = `query ($id: ID!) { asset(id: $id) { id caption commits(first: 20) { nodes { id message createdAt } } } }`
const update = `mutation ($id: ID!, $caption: String!) {
  updateAssetMetadata(input: { id: $id, caption: $caption }) { asset { caption } }
}`

type Ask = (url: string, authorization: string, id: string) => Promise<Response>
const byGraphQL =
  (query: string): Ask =>
  (url, authorization, id) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { id, caption: randomUUID() } }),
    })
const byRest: Ask = (url, authorization) => fetch(`${url}/api/v3/auth/users/me/`, { headers: { authorization } })

async function newPerson(url: string, username: string): Promise<{ authorization: string; id: string }> {
  const anonymous = createRest(url)
  const account = { username, email: `${username}@example.org`, password: 'correct horse' }
  expectOk(await anonymous('POST', 'auth/users/', { json: account }))
  const { auth_token: token } = expectOk(await anonymous('POST', 'auth/token/login/', { json: account }))
  const { id } = (await registerWith(createRest(url, { actor: { token } }), { asset_file: newFile() })).body
  return { authorization: `token ${token}`, id }
}

it.each([
  ['a read over GraphQL', 'ada', 12_000, byGraphQL(read)],
  ['an update over GraphQL', 'bob', 3_000, byGraphQL(update)],
  ['a read over REST', 'eve', 12_000, byRest],
])('%s leaves no long-lived objects in memory', async (_, name, requests, ask) => {
  const preload = new URL('../support/traced-collections.ts', import.meta.url)
  const service = await shared.start([], {
    ROLES: 'http',
    NODE_OPTIONS: `--import=${preload} --disable-warning=ExperimentalWarning --max-semi-space-size=16`,
  })
  // Updates by one user wait for each other.
  const people = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => newPerson(service.url, `${name}-${index}`)),
  )

  let left = requests
  const askOn = async ({ authorization, id }: (typeof people)[number]) => {
    while (left-- > 0) {
      const answer = await ask(service.url, authorization, id)
      const body = await answer.text()
      if (answer.status !== 200 || body.includes('"errors"')) throw new Error(`${answer.status} ${body}`)
    }
  }
  await Promise.all(people.map(askOn))

  const { output } = await service.stop()
  expect(promotedShare(output)).toBeLessThan(MAX_PROMOTED)
})
