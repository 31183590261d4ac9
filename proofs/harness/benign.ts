/** People who have nothing to do with an attack: they sign in and look at their accounts, and do not wait for slow answers. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, trySend } from '../../test/support/http-client.ts'
import type { Gateway } from './gateway.ts'
import { type Person, signIn, signUp, trySignIn } from './people.ts'
import { percentile } from './percentile.ts'

/** Milliseconds between two requests of a kind. */
const SIGN_IN_EVERY = 500
const ME_EVERY = 50
/** An odd number, so that each comes to both gateways. */
const PEOPLE = 5

export interface Benign {
  stop(): Promise<{ answers: Answer[]; failures: string[]; summary: string }>
}

export async function startBenign(gateways: readonly Gateway[]): Promise<Benign> {
  const people: Person[] = []
  while (people.length < PEOPLE) people.push(await signUp(gateways[0]!, `benign${people.length}`))
  const token = await signIn(gateways[0]!, people[0]!)
  let isOver = false
  const me = (gateway: Gateway) => trySend(`${gateway.url}/api/v3/auth/users/me/`, { token })
  const signInOne = (gateway: Gateway, serial: number) => trySignIn(gateway, people[serial % PEOPLE]!)

  const again = async (every: number, ask: (gateway: Gateway, serial: number) => Promise<Answer>) => {
    const answers: Promise<Answer>[] = []
    for (let serial = 0; !isOver; serial += 1) {
      answers.push(ask(gateways[serial % gateways.length]!, serial))
      await delay(every)
    }
    return Promise.all(answers)
  }
  const running = [again(SIGN_IN_EVERY, signInOne), again(ME_EVERY, me)]

  return {
    async stop() {
      isOver = true
      const [signIns, looks] = (await Promise.all(running)) as [Answer[], Answer[]]
      const describe = (what: string, all: Answer[]) =>
        `${all.length} ${what}, p99 ${Math.round(percentile(all, 0.99))} ms`
      const answers = [...signIns, ...looks]
      return {
        answers,
        failures: answers.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`),
        summary: `benign user: ${describe('sign-ins', signIns)}; ${describe('looks at the account', looks)}`,
      }
    },
  }
}
