/** A gateway that does nothing but answer, on a small database of the growth bench, and accounts that call it. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createGateway, type Gateway } from '../proofs/harness/gateway.ts'
import { developmentKey, startEmbeddedAnvil } from '../src/embedded/embedded-anvil.ts'
import { openPlace, silent } from './growth/place.ts'

const COMMITS = 10_000

/** Carries work out with a gateway, and ends everything after it. */
export async function withGateway(
  dir: string,
  env: Record<string, string>,
  work: (gateway: Gateway, afterwards: (end: () => Promise<unknown>) => void, databaseUrl: string) => Promise<void>,
): Promise<void> {
  const ends: (() => Promise<unknown>)[] = []
  const afterwards = (end: () => Promise<unknown>) => void ends.unshift(end)
  try {
    const place = await openPlace(dir, () => undefined)
    afterwards(() => place.stop())
    const chain = await startEmbeddedAnvil({ dir: join(dir, 'chain'), log: silent })
    afterwards(() => chain.stop())
    const databaseUrl = await place.databaseOf(COMMITS)
    const gateway = await createGateway({ dir: place.dir, afterwards }, 'gateway-alone', {
      ...place.env(databaseUrl),
      ROLES: 'http',
      CHAIN_RPC_URL: chain.rpcUrl,
      CHAIN_RELAY_KEYS: developmentKey,
      CHAIN_DEPLOY_REGISTRY: 'true',
      LOG_LEVEL: 'warn',
      SIGN_UP_POINTS: '100000',
      LIMITS: 'sign-up=100000000,sign-in=100000000,requests-per-user=100000000,requests-per-address=100000000',
      ...env,
    })
    await gateway.start()
    await work(gateway, afterwards, databaseUrl)
  } finally {
    for (const end of ends) await end().catch(() => undefined)
  }
}

/** Sends JSON; raises unless it was let in. */
async function post(url: string, json: object): Promise<{ auth_token: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

/** An account with its password. */
export interface Account {
  username: string
  email: string
  password: string
}

/** Makes one. */
export async function signUp(url: string): Promise<Account> {
  const name = randomBytes(6).toString('hex')
  const account = { username: name, email: `${name}@example.org`, password: randomBytes(12).toString('hex') }
  await post(`${url}/api/v3/auth/users/`, account)
  return account
}

/** The token of a new session. */
export const signIn = async (url: string, { email, password }: Account): Promise<string> =>
  (await post(`${url}/api/v3/auth/token/login/`, { email, password })).auth_token
