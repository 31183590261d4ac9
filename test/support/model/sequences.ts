/** Generates random sequences of operations, runs them in the model and on the service, and compares both after each step. */
import fc from 'fast-check'
import { isUnavailable } from '../../../src/shared/errors.ts'
import type { Transport } from '../use-cases.ts'
import { finalDifferences, readFinalState, stateDifferences } from './compare.ts'
import {
  altered,
  type Kind,
  keyed,
  type Names,
  nameIn,
  noNames,
  type Operation,
  resolve,
  type Template,
} from './operations.ts'
import { type CompletedAttempt, nextStates, type PossibleStates } from './possible.ts'
import type { Result } from './requests.ts'
import { openScene, type Scene, type Scheduler, ServiceBusy, type ServiceUnderTest } from './scene.ts'
import { hasAccount, initialState, type State } from './state.ts'
import type { Attempt } from './step.ts'
import { units } from './units.ts'

interface Progress {
  states: PossibleStates
  maxStates: number
  names: Names
  attempts: number
  races: number
  sent: (Attempt & { key: string })[]
}

const mostly = <T, U>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other })

const transport = fc.constantFrom<Transport>('REST', 'GraphQL')
const place = fc.integer({ min: 0, max: 2 })
const who = mostly(8, place, fc.constant('admin' as const))
const anyCaller = mostly(6, who, fc.constant('anonymous' as const))
const administrator = mostly(8, fc.constant('admin' as const), place)
const nth = fc.nat(9)
const amount = fc.constantFrom('0.179', '0.5', '1', '2.7', '0.000000000000000001', '1.333333333333333333')
const price = fc.constantFrom('0', '0.4', '1', '2.5', '0.700000000000000007')
const maxCost = mostly(5, fc.constant(undefined), fc.constantFrom('0.1', '1'))
const caption = fc.constantFrom(undefined, 'One', 'Another')

/** The weight of each kind of operation, and its random fields. */
const arbitraries: { [K in Kind]: [weight: number, fields: Record<string, fc.Arbitrary<unknown>>] } = {
  signUp: [3, { who: fc.constant(2), as: mostly(3, fc.constant(2), place) }],
  signIn: [4, { who: place }],
  signOut: [1, { who: place }],
  deposit: [6, { who: place, amount }],
  grant: [6, { who: administrator, to: place, amount }],
  register: [6, { who: anyCaller, file: fc.nat(3), isPublic: fc.boolean(), maxCost }],
  update: [8, { who: anyCaller, file: nth, caption, isPublic: fc.constantFrom(undefined, true, false), maxCost }],
  removeAsset: [2, { who: anyCaller, file: nth }],
  readAsset: [3, { who: anyCaller, file: nth }],
  order: [10, { who, app: nth, maxCost, isTrusted: fc.nat(9).map((dice) => dice > 0) }],
  confirm: [10, { who, order: nth, maxCost }],
  cancel: [3, { who, order: nth }],
  refund: [5, { who: administrator, order: nth, amount: fc.oneof(fc.constant(null), amount) }],
  withdraw: [4, { who: place, amount: fc.constantFrom('0.3', '1', '4') }],
  cancelWithdrawal: [2, { who: place, withdrawal: nth }],
  deleteAccount: [1, { who: place }],
  lock: [1, { who: administrator, whom: place }],
  unlock: [2, { who: administrator, whom: place }],
  list: [2, { who: administrator, price }],
  price: [1, { who: administrator, app: nth, price }],
  unlist: [1, { who: administrator, app: nth }],
  elapse: [4, { minutes: fc.constantFrom(4, 8, 16, 60, 24 * 60) }],
  sweep: [2, {}],
  balance: [2, { who }],
}

const templates = (kinds: readonly Kind[]): fc.Arbitrary<Template> =>
  fc.oneof(
    ...kinds.map((kind) => {
      const [weight, fields] = arbitraries[kind]
      return { weight, arbitrary: fc.record({ kind: fc.constant(kind), ...fields }) as fc.Arbitrary<Template> }
    }),
  )

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

function isPossible(state: State, operation: Operation): boolean {
  switch (operation.kind) {
    case 'deposit':
      return hasAccount(state, operation.who)
    case 'signUp':
      // A user whose name is free again would take over another place.
      return operation.as === operation.who || hasAccount(state, operation.as)
    case 'grant':
      return state.places[operation.to]!.account !== undefined
    case 'lock':
    case 'unlock':
      return state.places[operation.whom]!.account !== undefined
    default:
      return true
  }
}

function operationOf({ states, names }: Progress, template: Template): Operation | undefined {
  const operation = resolve(template, names)
  return operation && states.every((state) => isPossible(state, operation)) ? operation : undefined
}

function advance(
  progress: Progress,
  what: string,
  completed: readonly CompletedAttempt[],
  problems?: (state: State) => string[],
) {
  try {
    progress.states = nextStates(progress.states, completed, problems)
  } catch (error) {
    if (error instanceof Error) error.message = `${what}: ${error.message}`
    throw error
  }
  progress.maxStates = Math.max(progress.maxStates, progress.states.length)
  for (const { attempt, result } of completed)
    if (result.code === 'ok') progress.names = nameIn(progress.names, attempt)
}

type Command = fc.AsyncCommand<Progress, Scene>

function newAttempt(progress: Progress, operation: Operation, hasKey: boolean): Attempt {
  progress.attempts += 1
  const name = `n${progress.attempts}`
  return { name, operation, ...(hasKey && keyed.has(operation.kind) && { key: name }) }
}

async function execute(progress: Progress, scene: Scene, attempt: Attempt, at: Transport) {
  const result = await scene.scheduler.until(scene.ask(attempt, at))
  advance(progress, `${at} ${JSON.stringify(attempt)}`, [{ attempt, result }])
  if (attempt.key !== undefined && result.code === 'ok') progress.sent.push(attempt as Attempt & { key: string })
}

const single = (template: Template, at: Transport, hasKey: boolean): Command => ({
  check: (progress) => operationOf(progress, template) !== undefined,
  async run(progress, scene) {
    await execute(progress, scene, newAttempt(progress, operationOf(progress, template)!, hasKey), at)
  },
  toString: () => `${at}${hasKey ? ' with a key' : ''} ${JSON.stringify(template)}`,
})

function isRepeatable(state: State, { operation, name }: Attempt): boolean {
  if (operation.kind === 'update')
    return state.assets[operation.file]?.owner === state.places[operation.who as number]?.account
  if (operation.kind === 'register') return state.assets[operation.file]?.registration === name
  return true
}

const repeat = (nth: number, at: Transport, isAltered: boolean): Command => {
  const find = (progress: Progress): Attempt | undefined => {
    const sent = progress.sent[nth % Math.max(1, progress.sent.length)]
    if (!sent || !progress.states.every((state) => isRepeatable(state, sent))) return undefined
    const operation = isAltered ? altered(sent.operation) : sent.operation
    return operation && { ...sent, operation }
  }
  return {
    check: (progress) => find(progress) !== undefined,
    run: async (progress, scene) => execute(progress, scene, find(progress)!, at),
    toString: () => `${at} repeat ${nth}${isAltered ? ' with another body' : ''}`,
  }
}

const isBusy = ({ code }: Result) => code === 'CONFLICT' || code === 'IDEMPOTENCY_KEY_IN_USE'

const race = (all: readonly { template: Template; at: Transport }[], hasKey: boolean): Command => ({
  check: (progress) => all.filter(({ template }) => operationOf(progress, template)).length > 1,
  async run(progress, scene) {
    progress.races += 1
    const attempts = all.flatMap(({ template, at }): { attempt: Attempt; at: Transport }[] => {
      const operation = operationOf(progress, template)
      return operation ? [{ attempt: newAttempt(progress, operation, hasKey), at }] : []
    })
    const sent = attempts.map(async ({ attempt, at }) => {
      await scene.scheduler.take(attempt.name)
      return { attempt, result: await scene.ask(attempt, at) }
    })
    const done = await scene.scheduler.until(Promise.all(sent))
    const observed = await scene.observe()
    const completed = done.filter(({ result }) => !isBusy(result))
    advance(progress, `${JSON.stringify(attempts)} have no valid order`, completed, (state) =>
      stateDifferences(state, observed),
    )
  },
  toString: () => `concurrently${hasKey ? ' with keys' : ''} ${JSON.stringify(all)}`,
})

export interface Shape {
  maxCommands: number
  kinds?: readonly Kind[]
  racing?: readonly Kind[]
  fixed?: Record<string, unknown>
  repeats?: boolean
}

function sequences({
  maxCommands,
  kinds = Object.keys(arbitraries) as Kind[],
  racing: raced = racing,
  fixed = {},
  repeats = true,
}: Shape): fc.Arbitrary<Iterable<Command>> {
  const fix = (template: Template) =>
    Object.fromEntries(Object.entries({ ...template, ...fixed }).filter(([name]) => name in template)) as Template
  const one = fc.tuple(templates(kinds).map(fix), transport, fc.boolean()).map((parts) => single(...parts))
  const repeated = fc.tuple(nth, transport, fc.boolean()).map((parts) => repeat(...parts))
  const raceTemplate = templates(raced).map(fix)
  const several = fc
    .tuple(fc.array(fc.record({ template: raceTemplate, at: transport }), { minLength: 2, maxLength: 4 }), fc.boolean())
    .map((parts) => race(...parts))
  const commands = [...Array.from({ length: 7 }, () => one), ...(repeats ? [repeated] : []), several, several]
  return fc.commands(commands, { maxCommands, size: 'max' }) as fc.Arbitrary<Iterable<Command>>
}

export const emptyTally = () => ({ sequences: 0, attempts: 0, races: 0, retries: 0, maxStates: 1 })

const TRIES = 5
const PRICE = '0.9'

async function runOnce(service: ServiceUnderTest, commands: Iterable<Command>, scheduler: Scheduler) {
  const scene = await openScene(service, PRICE, scheduler)
  const states = [initialState(units(PRICE))]
  const progress: Progress = { states, maxStates: 1, names: noNames, attempts: 0, races: 0, sent: [] }
  await fc.asyncModelRun(() => ({ model: progress, real: scene }), commands)
  const final = await readFinalState(progress.states, progress.names, scene)
  advance(progress, 'At the end', [], (state) => finalDifferences(state, final))
  return progress
}

export const modelProperty = (service: ServiceUnderTest, shape: Shape, tally = emptyTally()) =>
  fc.asyncProperty(sequences(shape), fc.scheduler(), async (commands, scheduler) => {
    const take = (name: string) => scheduler.schedule(Promise.resolve(), name)
    const until = <T>(work: Promise<T>) => scheduler.waitFor(work)
    for (let tries = 1; ; tries += 1) {
      try {
        const { attempts, races, maxStates } = await runOnce(service, commands, { take, until })
        tally.sequences += 1
        tally.attempts += attempts
        tally.races += races
        tally.maxStates = Math.max(tally.maxStates, maxStates)
        return
      } catch (error) {
        // Includes state that is read outside the APIs.
        const isBusy = error instanceof ServiceBusy || isUnavailable(error)
        if (!isBusy) throw error
        if (tries === TRIES) throw error instanceof ServiceBusy ? error : new ServiceBusy(error.message)
        tally.retries += 1
      }
    }
  })
