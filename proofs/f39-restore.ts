/**
 * F39: database, keys, blocks and chain are restored from different points in time, in all combinations. The service starts, or refuses
 * with a clear message. No acknowledged money is lost, no commit is on the chain twice, and deleted data stays deleted. `annal check`
 * reports what is missing.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { statement } from '../src/db/sql.ts'
import { toId } from '../src/shared/ids.ts'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { ask } from './harness/client.ts'
import { hopefulStart } from './harness/hopeful-start.ts'
import { copyParts, type Installation, kinds, openInstallation } from './harness/installation.ts'
import { hasten, keeperName, liveThrough, type Story, signIn } from './harness/moments.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import {
  doublesOnChain,
  expectationOf,
  judgeAfterwards,
  judgeCold,
  judgeHealing,
  judgeRefusal,
  judgeService,
  leftOf,
  type Mixture,
} from './harness/restored.ts'

const userId = (uuid: string) => toId('user', uuid)

export async function proveRestore(context: ProofContext): Promise<ProofResult> {
  const count = Math.max(context.setting('MOMENTS', 3), 2)
  // With only two snapshots there is no rotation, because every older key folder would be rejected.
  const rotatesBefore = count > 2 ? count - 1 : Infinity
  const story = await liveThrough(context, count, rotatesBefore)
  const reasons = await catchHope(context, story)
  let refused = 0
  let started = 0
  const all = context.random.fork('order').shuffle([...mixturesOf(count)])
  const mixtures = all.slice(0, context.setting('COMBINATIONS', all.length))
  for (const mixture of mixtures) {
    const found = await restore(context, story, mixture)
    const name = kinds.map((kind) => `${kind} ${mixture[kind]}`).join(', ')
    reasons.push(...found.reasons.map((reason) => `${name}: ${reason}`))
    if (found.isRefused) refused += 1
    else started += 1
    if ((refused + started) % 8 === 0) context.say(`${refused + started} of ${mixtures.length} combinations`)
  }
  const mixed = mixtures.filter((mixture) => new Set(Object.values(mixture)).size > 1).length
  return conclude({
    figure: `${mixtures.length} combinations: ${started} start, ${refused} refused, ${reasons.length} wrong`,
    n: mixtures.length,
    faultsInjected: mixed,
    reasons,
  })
}

function* mixturesOf(count: number): Generator<Mixture> {
  for (let index = 0; index < count ** kinds.length; index += 1) {
    const digit = (place: number) => Math.floor(index / count ** place) % count
    yield { database: digit(0), keys: digit(1), blocks: digit(2), chain: digit(3) }
  }
}

const nameOf = (mixture: Mixture) => `restored-${kinds.map((kind) => mixture[kind]).join('')}`

/** Restores an installation from parts of these snapshots. */
async function assemble(context: ProofContext, { moments }: Story, mixture: Mixture, name: string) {
  const dir = join(context.dir, name)
  const [database, keys, blocks, chain] = kinds.map((kind) => moments[mixture[kind]]!.dir)
  await copyParts({ database: database!, keys: keys!, blocks: blocks!, chain: chain! }, dir)
  return openInstallation(context, name, dir)
}

async function restore(context: ProofContext, story: Story, mixture: Mixture) {
  const name = nameOf(mixture)
  const expected = expectationOf(story, mixture)
  const installation = await assemble(context, story, mixture, name)
  const reasons: string[] = []
  try {
    reasons.push(...(await judgeCold(installation, expected, userId)))
    if (expected.isRefused) {
      reasons.push(...(await judgeRefusal(installation, join(context.dir, `${name}.log`))))
      return { reasons, isRefused: true }
    }
    await installation.gateway.start()
    reasons.push(...(await judgeService(installation, story, mixture, expected)))
    const left = leftOf(story, mixture, expected)
    reasons.push(...(await judgeAfterwards(installation, left, userId)))
    reasons.push(...(await judgeHealing(installation, story, mixture, left)))
    const last = story.moments.length - 1
    if (kinds.every((kind) => kind === 'database' || mixture[kind] === last)) {
      reasons.push(...(await judgeSessions(story, mixture, installation)))
      reasons.push(...(await judgeWebhooks(story, installation)))
    }
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error))
  } finally {
    const code = await installation.gateway.stop()
    if (!expected.isRefused && code !== 0) reasons.push(`It ended with ${code} on SIGTERM.`)
    if (!process.env.KEEP) await rm(installation.dir, { recursive: true, force: true })
  }
  return { reasons, isRefused: false }
}

/** Checks that the sessions of the restored database are valid until the operator ends all of them. */
async function judgeSessions({ moments }: Story, { database }: Mixture, { gateway: { url }, annal }: Installation) {
  const me = { method: 'GET', path: '/api/v3/auth/users/me/', token: moments[database]!.session } as const
  await ask(url, me, 200)
  const { code } = await annal(['sessions', 'end', '--all'])
  const after = await trySend(url, me)
  if (code !== 0 || after.status !== 401) return [`A session lives after all were ended: ${after.status}.`]
  return (await signIn(url, keeperName)) ? [] : ['Nobody can sign in after all sessions were ended.']
}

const findUndelivered = statement(
  'proof_restore_undelivered',
  {},
  `select from webhook_deliveries where status = 'PENDING'`,
)

/** Checks that webhooks delivered after the dump are sent again, with the same ID and body. */
async function judgeWebhooks({ receiver }: Story, installation: Installation) {
  await hasten(installation)
  await until(
    'every webhook is delivered',
    async () => {
      const left = await installation.beside(({ database }) => database.query(findUndelivered))
      return left.length === 0
    },
    60_000,
    200,
  )
  const bodies = Map.groupBy(receiver.calls, ({ id }) => id)
  const changed = [...bodies.values()].filter((calls) => new Set(calls.map(({ body }) => body.toString())).size > 1)
  return changed.length ? [`${changed.length} webhooks were told again in other words.`] : []
}

/** Control: a start that resends everything that the dump shows as unsent must be detected as duplicating commits. */
async function catchHope(context: ProofContext, story: Story): Promise<string[]> {
  const last = story.moments.length - 1
  const mixture = { database: 0, keys: last, blocks: last, chain: last }
  const installation = await assemble(context, story, mixture, 'hopeful')
  const sent = await hopefulStart(installation)
  const { findings } = await installation.check()
  const { reasons } = await (async () => {
    await installation.gateway.start()
    const doubles = await doublesOnChain(installation)
    await installation.gateway.stop()
    return doubles
  })()
  const told = findings.get('H2')?.rows.length ?? 0
  context.say(`control: who starts and hopes puts ${sent} commits on the chain again; ${told} of them are told`)
  if (sent === 0) return ['The control did nothing: the run is invalid.']
  return reasons.length > 0 && told === sent ? [] : ['The control was not caught: who starts and hopes signs twice.']
}
