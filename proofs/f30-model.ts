/**
 * F30: random sequences of operations run in a reference model and on two gateways, over REST and GraphQL. Responses and final states must
 * match. Operations run alone or concurrently, on wallets, orders, commits, deletion and the clock.
 */
import fc from 'fast-check'
import { keyPairs } from '../src/chain/transaction.ts'
import { createDatabase } from '../src/db/database.ts'
import { statement } from '../src/db/sql.ts'
import { createCustody } from '../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../src/keys/key-vault.ts'
import { createPasswordHasher } from '../src/keys/password-hasher.ts'
import type { ErrorCode } from '../src/shared/errors.ts'
import { ServiceBusy, type ServiceUnderTest } from '../test/support/model/scene.ts'
import { emptyTally, modelProperty, type Shape } from '../test/support/model/sequences.ts'
import { modelEnv, terms } from '../test/support/model/state.ts'
import { decimal } from '../test/support/model/units.ts'
import { insertPerson } from '../test/support/person.ts'
import { createCarelessConfirm } from './harness/careless-confirm.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import { stopGateways } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { addService } from './harness/store.ts'

const PASSWORD = 'correct horse battery'
/** Number of divergences after which the search stops. Shrinking each of them takes time. */
const MOST_FOUND = 3
/** Maximum time to shrink one divergence, in milliseconds. */
const SHRINKING_MS = 120_000

/**
 * Registers a fake process for background work, so that the gateways leave it to that process. Background work is an operation of the
 * model.
 */
const insertProcess = statement(
  'proof_background',
  {},
  `insert into processes (id, name, roles, seen_at)
   values (gen_random_uuid(), 'the model', '{relay,jobs,deliveries}', now() + interval '1 day')`,
)

/** Starts two gateways without background work. The model runs it as explicit operations, so it knows when it happens. */
async function openService(
  context: ProofContext,
  parts: Parts,
  atOnce: number,
): Promise<ServiceUnderTest & { gateways: Gateway[] }> {
  await parts.database.query(insertProcess)
  const gateways: Gateway[] = []
  for (const name of ['gateway-0', 'gateway-1']) {
    gateways.push(await createGateway(context, name, { ...parts.env, ...modelEnv, ROLES: 'http' }))
    // Start one after the other, because the first gateway writes data that both need.
    await gateways.at(-1)!.start()
  }
  const database = createDatabase({ url: parts.databaseUrl, pool: atOnce + 4, log: silent })
  context.afterwards(() => database.close())
  const vault = createLocalKeyVault({ key: parts.env.KEY_ENCRYPTION_KEY, dir: context.dir })
  const custody = createCustody({ vault, keyPairs })
  const passwordHash = await createPasswordHasher({ memoryCost: 1_024 }).hash(PASSWORD)
  return {
    gateways,
    urls: gateways.map(({ url }) => url),
    database,
    sql: async (text, values) => (await database.prisma.$queryRawUnsafe(text, ...values)) as never,
    apiKey: await addService(parts),
    password: PASSWORD,
    createUser: (role) =>
      insertPerson(
        { database, custody },
        { role, passwordHash, points: role === 'USER' ? decimal(terms.signUpPoints) : '0' },
      ),
  }
}

/** Runs one sequence by its number. Returns undefined if service and model agree, or a report that replays the divergence. */
async function findDivergence(
  context: ProofContext,
  service: ServiceUnderTest,
  shape: Shape,
  number: number,
  tally = emptyTally(),
) {
  const seed = context.random.fork(`sequence ${number}`).below(2 ** 31)
  const run = { seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: SHRINKING_MS }
  const found = await fc.check(modelProperty(service, shape, tally), run)
  if (!found.failed) return undefined
  const { counterexample, errorInstance, numShrinks } = found
  const cause = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  if (errorInstance instanceof ServiceBusy) {
    tally.retries += 1
    context.say(`Sequence ${number} was skipped because the service is busy: ${cause}`)
    return undefined
  }
  return {
    length: String(counterexample?.[0] ?? '').length,
    report: `Sequence ${number} (SEED=${context.seed} SEQUENCE=${number}), shrunk ${numShrinks} times: ${fc.stringify(counterexample)}: ${cause}`,
  }
}

export async function proveModel(context: ProofContext): Promise<ProofResult> {
  const atOnce = context.setting('AT_ONCE', 12)
  const only = process.env.SEQUENCE === undefined ? undefined : context.setting('SEQUENCE', 1)
  const count = only === undefined ? context.setting('SEQUENCES', 2_000) : 1
  const shape = { maxCommands: context.setting('COMMANDS', 50) }
  const parts = await startParts(context)
  const service = await openService(context, parts, atOnce)

  const tally = emptyTally()
  const divergences: string[] = []
  let next = only ?? context.setting('FIRST', 1)
  const last = next + count
  const started = performance.now()
  const worker = async () => {
    while (next < last && divergences.length < MOST_FOUND) {
      const number = next
      next += 1
      const found = await findDivergence(context, service, shape, number, tally)
      if (found) {
        context.say(found.report)
        divergences.push(found.report)
      }
      if (number % 100 === 0) context.say(`${number} of ${count} after ${seconds(started)} s: ${JSON.stringify(tally)}`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
  context.say(`${JSON.stringify(tally)} in ${seconds(started)} s`)

  const reasons = [
    ...divergences,
    ...(await stopGateways(service.gateways)),
    ...(await brokenInvariants(parts.database)),
  ]
  if (only === undefined && tally.races < count / 4)
    reasons.push(`Only ${tally.races} concurrent steps: the run is invalid.`)
  if (tally.retries > count / 10)
    reasons.push(`${tally.retries} sequences were retried because the service was busy: the run is invalid.`)
  reasons.push(...(await catchCareless(context, parts, service)))
  return conclude({
    figure: `${divergences.length} divergences in ${tally.sequences} sequences, ${tally.attempts} operations`,
    n: tally.attempts,
    faultsInjected: tally.races,
    reasons,
  })
}

const seconds = (since: number) => Math.round((performance.now() - since) / 1000)

const verdicts: Record<string, ErrorCode | 'ok'> = {
  paid: 'ok',
  order_expired: 'ORDER_EXPIRED',
  insufficient_fund: 'INSUFFICIENT_FUND',
}
/** Maximum number of sequences until the control must be detected. */
const CONTROL_TRIES = 40

/** Control: with a confirm that reads, checks and writes in separate steps, a failing sequence must be found and shrunk. */
async function catchCareless(
  context: ProofContext,
  parts: Parts,
  { gateways, ...service }: ServiceUnderTest & { gateways: Gateway[] },
) {
  // Gateway for creating the orders. The gateways of the run have been stopped.
  const gateway = await createGateway(context, 'gateway-control', { ...parts.env, ...modelEnv, ROLES: 'http' })
  await gateway.start()
  const careless = await createCarelessConfirm(parts.databaseUrl)
  const tried: ServiceUnderTest = {
    ...service,
    urls: [gateway.url],
    override(operation, real, scheduler) {
      if (operation.kind !== 'confirm') return undefined
      const confirmed = careless.confirm(real.order(operation.order), scheduler.take)
      return confirmed.then(({ verdict }) => ({ code: verdicts[verdict] ?? 'unknown' }))
    },
  }
  // Sequential confirms are correct even in the control.
  const shape = {
    maxCommands: 8,
    kinds: ['deposit', 'order', 'confirm'],
    racing: ['confirm'],
    // The control supports neither maximum costs nor idempotency keys.
    fixed: { who: 1, maxCost: undefined },
    repeats: false,
  } as const
  try {
    for (let number = 1; number <= CONTROL_TRIES; number += 1) {
      const found = await findDivergence(context, tried, shape, number)
      if (!found) continue
      context.say(`control, ${found.report}`)
      return /concurrently/.test(found.report)
        ? []
        : ['The control failed without concurrency. This does not show a race between read, check and write.']
    }
    return ['The control was not detected: the racy confirm showed no divergence.']
  } finally {
    await careless.close()
    await gateway.stop()
  }
}
