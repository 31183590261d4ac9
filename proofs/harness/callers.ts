/**
 * Clients under load. They sign up, register and update assets, retry until each write is acknowledged, and record what was acknowledged.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../../test/support/http-client.ts'
import { type Call, type Poller, persist } from './client.ts'
import type { Random } from './random.ts'

export interface Account {
  token: string
  username: string
  /** Nid of the asset that all callers of this account update. */
  nid: string
}

/** Acknowledged writes, by the identifiers that callers gave them. */
export interface Acknowledged {
  /** Usernames of acknowledged sign-ups. */
  signUps: string[]
  /** Commit messages of acknowledged updates and registrations. */
  commits: string[]
  /** Commit messages by account. */
  byAccount: Map<string, string[]>
  /** Identifiers of updates per caller, in order. */
  byCaller: string[][]
  /** Unexpected responses. */
  surprises: string[]
  retries: number
  replays: number
}

export const nothingAcknowledged = (): Acknowledged => ({
  signUps: [],
  commits: [],
  byAccount: new Map(),
  byCaller: [],
  surprises: [],
  retries: 0,
  replays: 0,
})

/** Returns the password of an account that `signUpCall` created. */
export const passwordOf = (username: string) => `password of ${username}`.slice(0, 32)

export const signUpCall = (username: string): Call => ({
  method: 'POST',
  path: '/api/v3/auth/users/',
  key: `sign-up ${username}`,
  json: { username, email: `${username}@example.org`, password: passwordOf(username) },
})

export function registerCall(token: string, message: string): Call {
  const file = new File([`the file of ${message}`], 'file.txt', { type: 'text/plain' })
  const multipart = { asset_file: file, caption: message, commit_message: message }
  return { method: 'POST', path: '/api/v3/assets/', key: `register ${message}`, token, multipart }
}

export const updateCall = ({ token, nid }: Pick<Account, 'token' | 'nid'>, message: string): Call => ({
  method: 'PATCH',
  path: `/api/v3/assets/${nid}/`,
  key: `update ${message}`,
  token,
  json: { caption: message, commit_message: message, nit_commit_custom: { serial: { of: message } } },
})

export interface CallersOptions {
  accounts: readonly Account[]
  random: Random
  choose(): string | undefined
  /** Returns callbacks for the stages of a request to this gateway. */
  watchOf(base: string): Poller
  acknowledged: Acknowledged
  /** Maximum pause between two requests of a caller, in milliseconds. Defaults to 100. */
  rest?: number | undefined
}

/** Creates an account with an asset before any faults. Throws if a request fails. */
export async function openAccount(base: string, username: string, acknowledged: Acknowledged): Promise<Account> {
  const ask = async (call: Call): Promise<Record<string, string>> => {
    const { answer } = await persist(() => base, call)
    if (answer.status >= 300) throw new Error(`${call.path} was answered with ${JSON.stringify(answer)}`)
    return answer.body
  }
  await ask(signUpCall(username))
  const credentials = { email: `${username}@example.org`, password: passwordOf(username) }
  const { auth_token: token } = await ask({ method: 'POST', path: '/api/v3/auth/token/login/', json: credentials })
  const message = `${username} first`
  const { id: nid } = await ask(registerCall(token!, message))
  acknowledged.signUps.push(username)
  acknowledged.commits.push(message)
  acknowledged.byAccount.set(username, [message])
  return { token: token!, username, nid: nid! }
}

/** Runs `count` callers until `isOver` returns true. Several callers share an account. */
export async function runCallers(count: number, isOver: () => boolean, options: CallersOptions): Promise<void> {
  const { accounts, choose, watchOf, acknowledged, rest = 100 } = options

  const ask = async (call: Call, expected: number): Promise<Answer | undefined> => {
    const { answer, tries } = await persist(choose, call, watchOf)
    acknowledged.retries += tries - 1
    if (answer.headers.get('idempotency-replayed') === 'true') acknowledged.replays += 1
    if (answer.status === expected) return answer
    acknowledged.surprises.push(`${call.method} ${call.path} after ${tries} tries: ${JSON.stringify(answer)}`)
    return undefined
  }

  const caller = async (index: number) => {
    const random = options.random.fork(`caller ${index}`)
    const account = accounts[index % accounts.length]!
    const mine: string[] = []
    acknowledged.byCaller[index] = mine
    for (let serial = 0; !isOver(); serial += 1) {
      // The pause leaves CPU time for gateways that are restarting.
      await delay(random.below(rest))
      const id = `c${index}-${serial}`
      const dice = random.next()
      if (dice < 0.12) {
        if (await ask(signUpCall(id), 201)) acknowledged.signUps.push(id)
        continue
      }
      const isRegistration = dice < 0.2
      const call = isRegistration ? registerCall(account.token, id) : updateCall(account, id)
      if (!(await ask(call, isRegistration ? 201 : 200))) continue
      acknowledged.commits.push(id)
      acknowledged.byAccount.get(account.username)!.push(id)
      if (!isRegistration) mine.push(id)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => caller(index)))
}
