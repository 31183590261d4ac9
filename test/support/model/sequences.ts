/** Generates random sequences of operations, runs them in the model and on the service, and compares both after each step. */
import fc from 'fast-check'
import { isUnavailable } from '../../../src/shared/errors.ts'
import type { Transport } from '../use-cases.ts'
import { lookAtEnd, wrongAtEnd, wrongIn } from './compare.ts'
import { altered, type Deed, type Kind, keyed, type Names, nameIn, noNames, resolve, type Wish } from './deeds.ts'
import { following, type Happened, type Possible } from './possible.ts'
import type { Told } from './requests.ts'
import { openScene, PutOff, type Scene, type TriedService, type Turns } from './scene.ts'
import { beginning, hasAccount, type State } from './state.ts'
import type { Attempt } from './step.ts'
import { units } from './units.ts'

interface Course {
  states: Possible
  mostStates: number
  names: Names
  attempts: number
  races: number
  sent: (Attempt & { key: string })[]
}

const transport = fc.constantFrom<Transport>('REST', 'GraphQL')
const place = fc.integer({ min: 0, max: 2 })
const who = fc.oneof({ weight: 8, arbitrary: place }, { weight: 1, arbitrary: fc.constant('admin' as const) })
const anybody = fc.oneof({ weight: 6, arbitrary: who }, { weight: 1, arbitrary: fc.constant('anonymous' as const) })
const administrator = fc.oneof({ weight: 8, arbitrary: fc.constant('admin' as const) }, { weight: 1, arbitrary: place })
const nth = fc.nat(9)
const amount = fc.constantFrom('0.179', '0.5', '1', '2.7', '0.000000000000000001', '1.333333333333333333')
const price = fc.constantFrom('0', '0.4', '1', '2.5', '0.700000000000000007')
const maxCost = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('0.1', '1') },
)
const minutes = fc.constantFrom(4, 8, 16, 60, 24 * 60)

const arbitraries: {
  [K in Kind]: { weight: number; fields: { [F in keyof Wish]?: unknown } & Record<string, fc.Arbitrary<unknown>> }
} = {
  signUp: {
    weight: 3,
    fields: {
      who: fc.constant(2),
      as: fc.oneof({ weight: 3, arbitrary: fc.constant(2) }, { weight: 1, arbitrary: place }),
    },
  },
  signIn: { weight: 4, fields: { who: place } },
  signOut: { weight: 1, fields: { who: place } },
  deposit: { weight: 6, fields: { who: place, amount } },
  grant: { weight: 6, fields: { who: administrator, to: place, amount } },
  register: { weight: 6, fields: { who: anybody, file: fc.nat(3), isPublic: fc.boolean(), maxCost } },
  update: {
    weight: 8,
    fields: {
      who: anybody,
      file: nth,
      caption: fc.constantFrom(undefined, 'One', 'Another'),
      isPublic: fc.constantFrom(undefined, true, false),
      maxCost,
    },
  },
  removeAsset: { weight: 2, fields: { who: anybody, file: nth } },
  readAsset: { weight: 3, fields: { who: anybody, file: nth } },
  order: { weight: 10, fields: { who, app: nth, maxCost, isTrusted: fc.nat(9).map((dice) => dice > 0) } },
  confirm: { weight: 10, fields: { who, order: nth, maxCost } },
  cancel: { weight: 3, fields: { who, order: nth } },
  refund: { weight: 5, fields: { who: administrator, order: nth, amount: fc.oneof(fc.constant(null), amount) } },
  withdraw: { weight: 4, fields: { who: place, amount: fc.constantFrom('0.3', '1', '4') } },
  cancelWithdrawal: { weight: 2, fields: { who: place, withdrawal: nth } },
  deleteAccount: { weight: 1, fields: { who: place } },
  lock: { weight: 1, fields: { who: administrator, whom: place } },
  unlock: { weight: 2, fields: { who: administrator, whom: place } },
  list: { weight: 2, fields: { who: administrator, price } },
  price: { weight: 1, fields: { who: administrator, app: nth, price } },
  unlist: { weight: 1, fields: { who: administrator, app: nth } },
  elapse: { weight: 4, fields: { minutes } },
  sweep: { weight: 2, fields: {} },
  balance: { weight: 2, fields: { who } },
}

const wishOf = (kind: Kind) =>
  fc.record({ kind: fc.constant(kind), ...arbitraries[kind].fields } as Record<
    string,
    fc.Arbitrary<unknown>
  >) as fc.Arbitrary<Wish>
const wishes = (kinds: readonly Kind[]) =>
  fc.oneof(...kinds.map((kind) => ({ weight: arbitraries[kind].weight, arbitrary: wishOf(kind) })))

const racing: readonly Kind[] = [
  'update',
  'order',
  'confirm',
  'confirm',
  'cancel',
  'refund',
  'withdraw',
  'cancelWithdrawal',
  'grant',
  'register',
]

function isPossible(state: State, deed: Deed): boolean {
  switch (deed.kind) {
    case 'deposit':
      return hasAccount(state, deed.who)
    case 'signUp':
      // A user whose name is free again would take over another place.
      return deed.as === deed.who || hasAccount(state, deed.as)
    case 'grant':
      return state.places[deed.to]!.account !== undefined
    case 'lock':
    case 'unlock':
      return state.places[deed.whom]!.account !== undefined
    default:
      return true
  }
}

function deedOf({ states, names }: Course, wish: Wish): Deed | undefined {
  const deed = resolve(wish, names)
  return deed && states.every((state) => isPossible(state, deed)) ? deed : undefined
}

function follow(course: Course, what: string, happened: readonly Happened[], wrong?: (state: State) => string[]) {
  try {
    course.states = following(course.states, happened, wrong)
  } catch (error) {
    if (error instanceof Error) error.message = `${what}: ${error.message}`
    throw error
  }
  course.mostStates = Math.max(course.mostStates, course.states.length)
  for (const { attempt, told } of happened) if (told.code === 'ok') course.names = nameIn(course.names, attempt)
}

type Command = fc.AsyncCommand<Course, Scene>

function nextName(course: Course) {
  course.attempts += 1
  return `n${course.attempts}`
}

async function carryOut(course: Course, scene: Scene, attempt: Attempt, at: Transport) {
  const told = await scene.turns.until(scene.ask(attempt, at))
  follow(course, `${at} ${JSON.stringify(attempt)}`, [{ attempt, told }])
  if (attempt.key !== undefined && told.code === 'ok') course.sent.push(attempt as Attempt & { key: string })
}

const single = (wish: Wish, at: Transport, hasKey: boolean): Command => ({
  check: (course) => deedOf(course, wish) !== undefined,
  async run(course, scene) {
    const name = nextName(course)
    const deed = deedOf(course, wish)!
    await carryOut(course, scene, { name, deed, ...(hasKey && keyed.has(deed.kind) && { key: name }) }, at)
  },
  toString: () => `${at}${hasKey ? ' with a key' : ''} ${JSON.stringify(wish)}`,
})

function stands(state: State, { deed, name }: Attempt): boolean {
  if (deed.kind === 'update') return state.assets[deed.file]?.owner === state.places[deed.who as number]?.account
  if (deed.kind === 'register') return state.assets[deed.file]?.registration === name
  return true
}

const again = (nth: number, at: Transport, isAltered: boolean): Command => {
  const find = (course: Course): Attempt | undefined => {
    const sent = course.sent[nth % Math.max(1, course.sent.length)]
    if (!sent || !course.states.every((state) => stands(state, sent))) return undefined
    const deed = isAltered ? altered(sent.deed) : sent.deed
    return deed && { ...sent, deed }
  }
  return {
    check: (course) => find(course) !== undefined,
    run: async (course, scene) => carryOut(course, scene, find(course)!, at),
    toString: () => `${at} again ${nth}${isAltered ? ' with another body' : ''}`,
  }
}

const isPutOff = ({ code }: Told) => code === 'CONFLICT' || code === 'IDEMPOTENCY_KEY_IN_USE'

const race = (all: readonly { wish: Wish; at: Transport }[], sharesKey: boolean): Command => ({
  check: (course) => all.filter(({ wish }) => deedOf(course, wish)).length > 1,
  async run(course, scene) {
    course.races += 1
    const possible = all.flatMap(({ wish, at }) => {
      const deed = deedOf(course, wish)
      return deed ? [{ deed, at }] : []
    })
    const attempts = possible.map(({ deed, at }): { attempt: Attempt; at: Transport } => {
      const name = nextName(course)
      return { attempt: { name, deed, ...(sharesKey && keyed.has(deed.kind) && { key: name }) }, at }
    })
    const asked = attempts.map(async ({ attempt, at }) => {
      await scene.turns.take(attempt.name)
      return { attempt, told: await scene.ask(attempt, at) }
    })
    const done = await scene.turns.until(Promise.all(asked))
    const observed = await scene.observe()
    const happened = done.filter(({ told }) => !isPutOff(told))
    follow(course, `${JSON.stringify(attempts)} at once is none of`, happened, (state) => wrongIn(state, observed))
  },
  toString: () => `at once${sharesKey ? ' with keys' : ''} ${JSON.stringify(all)}`,
})

/** The generators of sequences. */
export interface Shape {
  mostCommands: number
  kinds?: readonly Kind[]
  racing?: readonly Kind[]
  alike?: Record<string, unknown>
  repeats?: boolean
}

function sequences({
  mostCommands,
  kinds = Object.keys(arbitraries) as Kind[],
  racing: raced = racing,
  alike = {},
  repeats = true,
}: Shape): fc.Arbitrary<Iterable<Command>> {
  const fields = Object.entries(alike)
  const by = (wish: Wish): Wish => ({ ...wish, ...Object.fromEntries(fields.filter(([name]) => name in wish)) })
  const one = fc.tuple(wishes(kinds).map(by), transport, fc.boolean()).map((parts) => single(...parts))
  const repeated = fc.tuple(nth, transport, fc.boolean()).map((parts) => again(...parts))
  const raceWish = wishes(raced).map(by)
  const several = fc
    .tuple(fc.array(fc.record({ wish: raceWish, at: transport }), { minLength: 2, maxLength: 4 }), fc.boolean())
    .map((parts) => race(...parts))
  const commands = [...Array.from({ length: 7 }, () => one), ...(repeats ? [repeated] : []), several, several]
  return fc.commands(commands, { maxCommands: mostCommands, size: 'max' }) as fc.Arbitrary<Iterable<Command>>
}

/** The counters of a run. */
export interface Tally {
  sequences: number
  attempts: number
  races: number
  anew: number
  mostStates: number
}

export const nothingPlayed = (): Tally => ({ sequences: 0, attempts: 0, races: 0, anew: 0, mostStates: 1 })

const TRIES = 5
const PRICE = '0.9'

async function playOnce(service: TriedService, commands: Iterable<Command>, turns: Turns): Promise<Course> {
  const scene = await openScene(service, PRICE, turns)
  const states = [beginning(units(PRICE))]
  const course: Course = { states, mostStates: 1, names: noNames, attempts: 0, races: 0, sent: [] }
  await fc.asyncModelRun(() => ({ model: course, real: scene }), commands)
  const seen = await lookAtEnd(course.states, course.names, scene)
  follow(course, 'At the end', [], (state) => wrongAtEnd(state, seen))
  return course
}

async function play(service: TriedService, commands: Iterable<Command>, turns: Turns, tally: Tally): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { attempts, races, mostStates } = await playOnce(service, commands, turns)
      tally.sequences += 1
      tally.attempts += attempts
      tally.races += races
      tally.mostStates = Math.max(tally.mostStates, mostStates)
      return
    } catch (error) {
      // Includes state that is read outside the APIs.
      const isPutOff = error instanceof PutOff || isUnavailable(error)
      if (!isPutOff) throw error
      if (tries === TRIES) throw error instanceof PutOff ? error : new PutOff(error.message)
      tally.anew += 1
    }
  }
}

export const agreement = (service: TriedService, shape: Shape, tally = nothingPlayed()) =>
  fc.asyncProperty(sequences(shape), fc.scheduler(), (commands, scheduler) => {
    const take = (name: string) => scheduler.schedule(Promise.resolve(), name)
    return play(service, commands, { take, until: (work) => scheduler.waitFor(work) }, tally)
  })
