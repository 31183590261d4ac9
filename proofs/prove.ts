/**
 * Command `npm run prove -- <id>…` or `all`. Prints one JSON line per proof to stdout. Exits with 1 if a proof fails, and with 2 on wrong
 * usage.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Proof, ProofContext, ProofResult } from './harness/proof.ts'
import { createRandom } from './harness/random.ts'

const proofs: Record<string, () => Promise<Proof>> = {
  F01: async () => (await import('./f01-confirm-storm.ts')).proveConfirmStorm,
  F02: async () => (await import('./f02-wallet-race.ts')).proveWalletRace,
  F03: async () => (await import('./f03-kill-gateway.ts')).proveKillGateway,
  F04: async () => (await import('./f04-kill-postgres.ts')).proveKillPostgres,
  F06: async () => (await import('./f06-expiry-edge.ts')).proveExpiryEdge,
  F10: async () => (await import('./f10-ssrf.ts')).proveNoInside,
  F11: async () => (await import('./f11-chain-down.ts')).proveChainDown,
  F12: async () => (await import('./f12-reply-lost.ts')).proveReplyLost,
  F13: async () => (await import('./f13-nonce-gap.ts')).proveNonceGap,
  F14: async () => (await import('./f14-stuck-fee.ts')).proveStuckFee,
  F15: async () => (await import('./f15-reorg.ts')).proveReorg,
  F18: async () => (await import('./f18-token-race.ts')).proveTokenRace,
  F19: async () => (await import('./f19-delete-race.ts')).proveDeleteRace,
  F23: async () => (await import('./f23-authz.ts')).proveAuthorization,
  F25: async () => (await import('./f25-disk-full.ts')).proveDiskFull,
  F28: async () => (await import('./f28-fuzz.ts')).proveFuzz,
  F30: async () => (await import('./f30-model.ts')).proveModel,
  F31: async () => (await import('./f31-soak.ts')).proveSoak,
  F34: async () => (await import('./f34-failover.ts')).proveFailover,
  F39: async () => (await import('./f39-restore.ts')).proveRestore,
}

const say = (text: string) => void process.stderr.write(`${text}\n`)

async function run(id: string, proof: Proof, seed: string): Promise<ProofResult> {
  const dir = await mkdtemp(join(tmpdir(), `annal-${id.toLowerCase()}-`))
  const endings: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })]
  const context: ProofContext = {
    seed,
    random: createRandom(`${seed}/${id}`),
    dir,
    say: (text) => say(`${id}: ${text}`),
    setting(name, fallback) {
      const value = Number(process.env[name] ?? fallback)
      const least = Math.min(fallback, 1)
      if (!Number.isInteger(value) || value < least)
        throw new Error(`${name} must be a whole number of ${least} or more.`)
      return value
    },
    afterwards: (work) => void endings.unshift(work),
  }
  const broken = Promise.withResolvers<never>()
  const onRejection = (reason: unknown) => broken.reject(reason)
  const onSignal = (signal: string) => broken.reject(new Error(`Told to stop by ${signal}.`))
  // Unhandled errors fail the proof. Everything that the proof started is stopped.
  process.on('unhandledRejection', onRejection).once('SIGTERM', onSignal).once('SIGINT', onSignal)
  try {
    return await Promise.race([proof(context), broken.promise])
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { pass: false, figure: 'not finished', n: 0, faultsInjected: 0, reasons: [reason] }
  } finally {
    if (process.env.KEEP) endings.pop()
    for (const end of endings) await end().catch((error: unknown) => say(`${id}: tidying up failed: ${error}`))
    process.off('unhandledRejection', onRejection).off('SIGTERM', onSignal).off('SIGINT', onSignal)
  }
}

const asked = process.argv.slice(2)
const ids = asked.includes('all') ? Object.keys(proofs) : asked
const byLowerCase = new Map(Object.keys(proofs).map((id) => [id.toLowerCase(), id]))
const unknown = ids.filter((id) => !byLowerCase.has(id.toLowerCase()))
if (ids.length === 0 || unknown.length > 0) {
  say(`Usage: npm run prove -- <id>…   with ids of: ${Object.keys(proofs).join(', ')}, all`)
  for (const id of unknown) say(`There is no proof ${id}.`)
  process.exit(2)
}

const seed = process.env.SEED ?? randomBytes(4).toString('hex')
for (const given of ids) {
  const id = byLowerCase.get(given.toLowerCase())!
  const { pass, figure, n, faultsInjected, reasons } = await run(id, await proofs[id]!(), seed)
  for (const reason of reasons) say(`${id}: ${reason}`)
  process.stdout.write(`${JSON.stringify({ id, pass, figure, n, faultsInjected, seed })}\n`)
  if (!pass) process.exitCode = 1
}
