import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createRest } from '../../support/rest-client.ts'
import { startAnother } from '../../support/start-another.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
/** An installation in which several accounts may claim one address. */
const verifying = await createTestApp({ env: { EMAIL_VERIFICATION: 'on' } })
const document = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
const byRest = (email: string, password: string) => app.rest('POST', 'auth/token/login/', { json: { email, password } })
const byGraphQL = (email: string, password: string) => app.graphql(document, { input: { email, password } })

describe('password guessing', () => {
  it('sign-in is blocked after four failed attempts over both APIs, for existing and unknown accounts', async () => {
    for (const address of [(await app.newUser()).email, 'nobody@example.org']) {
      for (const [i, spelling] of [address, address.toUpperCase(), ` ${address}`, `${address} `].entries()) {
        expectError(await (i % 2 ? byRest : byGraphQL)(spelling, 'wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
      }
      for (const guess of [byRest, byGraphQL]) {
        const wait = Number(expectError(await guess(address, PASSWORD), 'THROTTLED').headers.get('retry-after'))
        expect(wait).toBeGreaterThan(850)
        expect(wait).toBeLessThanOrEqual(900)
      }
    }
  })

  it('sign-in is blocked after four concurrent attempts in any spelling, without blocking other accounts', async () => {
    for (const email of [(await app.newUser()).email, 'nobody-at-once@example.org']) {
      const others = Array.from({ length: 15 }, (_, i) => byRest(`nobody${i}@of.${email}`, 'wrong password'))
      const spellings = [email, email.toUpperCase()]
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          (i % 2 ? byRest : byGraphQL)(spellings[Math.floor(i / 2) % 2]!, `wrong password ${i}`),
        ),
      )
      for (const answer of await Promise.all(others)) expectError(answer, 'INCORRECT_LOGIN_CREDENTIALS')
      const verified = answers.filter(({ text }) => /Unable to log in/.test(text))
      expect(verified).toHaveLength(4)
      for (const answer of answers) if (!verified.includes(answer)) expectError(answer, 'THROTTLED')
    }
  })

  it('counts failed sign-ins together for all spellings that the database treats as the same address', async () => {
    const { email } = await app.newUser({ username: 'kelvin' })
    const [{ same } = { same: false }] = await app.sql<{ same: boolean }>(
      `select lower(U&'\\212Aelvin@example.org') = 'kelvin@example.org' as same`,
    )
    const other = same ? '\u212Aelvin@example.org' : email
    for (const [i, address] of [email, other, other, email].entries()) {
      expectError(await byRest(address, `wrong ${i}`), 'INCORRECT_LOGIN_CREDENTIALS')
    }
    expectError(await byRest(email, PASSWORD), 'THROTTLED')
    expectError(await byRest(other, PASSWORD), 'THROTTLED')
  })

  it('further attempts do not extend the block of a sign-in', async () => {
    const { email } = await app.newUser()
    for (let i = 0; i < 4; i++) await byRest(email, 'wrong password')
    await app.sql(`update limits set window_end = now() + interval '30 seconds' where key like 'password-%'`)
    for (let i = 0; i < 8; i++) {
      const answer = expectError(await byRest(email, PASSWORD), 'THROTTLED')
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(30)
    }
    await app.sql(`update limits set window_end = now() where key like 'password-%'`)
    expectOk(await byRest(email, PASSWORD))
  })
})

it('a successful sign-in does not count as a failed attempt', async () => {
  const { email } = await app.newUser()
  for (let i = 0; i < 3; i++) expectError(await byRest(email, 'wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  for (let i = 0; i < 7; i++) expectOk(await byRest(email, PASSWORD))
  expectError(await byRest(email, 'wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  expectError(await byRest(email, PASSWORD), 'THROTTLED')
})

it('concurrent sign-ins with the correct password all succeed, in several processes', async () => {
  const other = await startAnother(app)
  const { email } = await app.newUser()
  for (let i = 0; i < 3; i++) expectError(await byRest(email, 'wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  const elsewhere = createRest(other.url)
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 ? byRest(email, PASSWORD) : elsewhere('POST', 'auth/token/login/', { json: { email, password: PASSWORD } }),
    ),
  )
  for (const answer of answers) expectOk(answer)
  await other.stop()
  expectError(await byRest(email, 'wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  expectError(await byRest(email, PASSWORD), 'THROTTLED')
})

describe('password changes', () => {
  const setPassword = (user: SignedIn, current: string, to = 'staple battery horse') =>
    user.rest('POST', 'auth/users/set_password/', { json: { current_password: current, new_password: to } })
  const isWrong = (answer: Awaited<ReturnType<typeof setPassword>>) =>
    expect(expectError(answer, 'VALIDATION_FAILED').body.error.details).toHaveProperty('current_password')

  it("a signed-in user can change the password while sign-in is blocked by other callers' guesses", async () => {
    const user = await app.newUser()
    for (let i = 0; i < 4; i++) expectError(await byRest(user.email, 'wrong'), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await byRest(user.email, 'wrong'), 'THROTTLED')
    expect((await setPassword(user, PASSWORD)).status).toBe(204)
    expectError(await byRest(user.email, 'staple battery horse'), 'THROTTLED')
    expect((await setPassword(user, 'staple battery horse', PASSWORD)).status).toBe(204)
  })

  it('blocks a password change after five wrong guesses, including failed sign-ins of other callers', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    for (let i = 0; i < 4; i++) expectError(await byRest(user.email, 'wrong'), 'INCORRECT_LOGIN_CREDENTIALS')
    isWrong(await setPassword(user, 'wrong'))
    const wait = Number(expectError(await setPassword(user, PASSWORD), 'THROTTLED').headers.get('retry-after'))
    expect(wait).toBeGreaterThan(850)
    expect(wait).toBeLessThanOrEqual(900)
    for (let i = 0; i < 5; i++) isWrong(await setPassword(other, 'wrong'))
    expectError(await setPassword(other, PASSWORD), 'THROTTLED')
    expectError(await byRest(other.email, PASSWORD), 'THROTTLED')
  })

  it('a password change is not blocked by guesses of other accounts that claim the same address', async () => {
    const email = 'quinn@example.org'
    const [claimant, owner] = [await verifying.newUser(), await verifying.newUser()]
    await verifying.sql('update users set email = $1, email_held = false where id = $2::uuid', [email, claimant.id])
    await verifying.sql('update users set email = $1, email_verified = true where id = $2::uuid', [email, owner.id])
    for (let i = 0; i < 5; i++) isWrong(await setPassword(claimant, 'wrong'))
    expectError(await setPassword(claimant, PASSWORD), 'THROTTLED')
    const login = () => verifying.rest('POST', 'auth/token/login/', { json: { email, password: PASSWORD } })
    expectOk(await login())
    expect((await setPassword(owner, PASSWORD, PASSWORD)).status).toBe(204)
    for (let i = 0; i < 5; i++) isWrong(await setPassword(owner, 'wrong'))
    expectError(await login(), 'THROTTLED')
  })
})
