#!/usr/bin/env node
/** The operator's commands. Data goes to stdout, talk to stderr; exits with 0, 1 when something is wrong, 2 on wrong usage. */
import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import type { App } from './app.ts'
import type { Verification, VerifyOptions } from './chain/verify.ts'
import { ConfigError, effectiveConfig, readConfig } from './config.ts'
import { DomainError } from './domain/errors.ts'
import { toId } from './domain/ids.ts'
import { checkInvariants } from './domain/invariants.ts'
import type { KeyRotation } from './domain/keys/key-rotation.ts'
import { formatAmount } from './domain/money.ts'
import type { Installation } from './installation.ts'

const FAILURE = 1
const WRONG_USAGE = 2

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const say = (text: string): void => void process.stderr.write(`${text}\n`)
const printJson = (value: unknown) => print(JSON.stringify(value, null, 2))
// Heeds NO_COLOR, and leaves colours out where stderr is no terminal.
const green = (text: string) => styleText('green', text, { stream: process.stderr })
const red = (text: string) => styleText('red', text, { stream: process.stderr })

/** Columns as wide as their widest cell; the last one as it comes. */
function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? []
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** Carries out `work` on this installation's parts: those of a running server, or our own for as long as it takes. */
async function withInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const config = readConfig()
  // Loaded when they are needed: help and a refusal must not wait for the whole service.
  const { openInstallation } = await import('./installation.ts')
  const { createLog } = await import('./platform/log.ts')
  // An operator at a terminal reads sentences; the service's own diary is left out unless it is asked for.
  const installation = await openInstallation(config, createLog(config.logLevel === 'info' ? 'warn' : config.logLevel))
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

const publicUrlOf = ({ config }: Installation) => config.publicUrl ?? `http://localhost:${config.port}`

const withApp = <T>(work: (app: App) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { createApp } = await import('./app.ts')
    // A commit made here is found by the server's relay on its next look.
    const relay = { wake() {} }
    return work(createApp({ ...installation, relay, publicUrl: publicUrlOf(installation), missing: async () => [] }))
  })

const program = new Command('annal')
  .description('Runs and inspects an Annal installation. Configured by the same variables as the server.')
  .version(manifest.version)
  .configureOutput({ outputError: (text, write) => write(red(text)) })
  .showHelpAfterError('(add --help for what is possible)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Examples:
  $ annal admin create --username root --email root@example.org --password 'correct horse'
  $ annal api-key issue --name shop --json
  $ annal check && echo "the books are right"
  $ annal verify bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy

Works beside a running server with the same ANNAL_DIR or DATABASE_URL, and starts the embedded database when none runs.`,
  )

/** Subcommands share the program's way to fail. */
const command = (parent: Command, name: string, description: string) =>
  parent.command(name).description(description).copyInheritedSettings(program)

const admin = command(program, 'admin', 'Administrators.')

command(admin, 'create', 'Makes an administrator and prints the id and an access token.')
  .requiredOption('--username <name>', 'at most 21 characters')
  .requiredOption('--email <address>', 'where to reach the person')
  .option('--password <text>', '8 to 32 characters')
  .option('--password-file <path>', 'reads the password from a file, or from stdin with -')
  .option('--json', 'prints {"id", "token"}')
  .action(async ({ username, email, password, passwordFile, json }) => {
    const secret = passwordFile ? readFileSync(passwordFile === '-' ? 0 : passwordFile, 'utf8').trimEnd() : password
    if (secret === undefined)
      throw new CommanderError(WRONG_USAGE, 'annal.password', 'Give --password or --password-file.')
    const made = await withApp(async ({ services: { accounts } }) => {
      const id = await accounts.createAdministrator({ username, email, password: secret })
      const token = await accounts.signIn(
        { kind: 'system' },
        { email, password: secret },
        { key: undefined, replayed: false },
      )
      return { id: toId('user', id), token }
    })
    if (json) return printJson(made)
    print(
      table([
        ['id', made.id],
        ['token', made.token],
      ]),
    )
    say('Keep the token: it is not shown again. Send it as "Authorization: token <token>".')
  })

const apiKey = command(program, 'api-key', 'API keys of trusted services.')

command(apiKey, 'issue', 'Makes an API key and prints it, this once.')
  .requiredOption('--name <name>', 'which service it is for')
  .option('--json', 'prints {"id", "key"}')
  .action(async ({ name, json }) => {
    const attempt = { key: undefined, replayed: false }
    const issued = await withApp(({ services: { apiKeys } }) => apiKeys.issue({ kind: 'system' }, { name }, attempt))
    const made = { id: toId('key', issued.id), key: issued.key }
    if (json) return printJson(made)
    print(
      table([
        ['id', made.id],
        ['key', made.key],
      ]),
    )
    say('Keep the key: it is not shown again. Services send it as "x-api-key: <key>".')
  })

command(apiKey, 'list', 'Lists all API keys, also revoked ones, newest first.')
  .option('--json', 'prints a list of {"id", "name", "prefix", "createdAt", "revokedAt"}')
  .action(async ({ json }) => {
    const keys = (await withApp(({ services: { apiKeys } }) => apiKeys.list({ kind: 'system' }))).map(
      ({ id, name, prefix, createdAt, revokedAt }) => ({ id: toId('key', id), name, prefix, createdAt, revokedAt }),
    )
    if (json) return printJson(keys)
    const rows = keys.map(({ id, name, prefix, createdAt, revokedAt }) => [
      ...[id, prefix, createdAt.toISOString(), revokedAt?.toISOString() ?? '-', name],
    ])
    print(table([['id', 'prefix', 'issued', 'revoked', 'name'], ...rows]))
  })

command(apiKey, 'revoke', 'Ends an API key: the next request that carries it is not trusted.')
  .argument('<id>', 'identifier of the key, as `annal api-key list` shows it')
  .action(async (id: string) => {
    const attempt = { key: undefined, replayed: false }
    await withApp(({ services: { apiKeys } }) => apiKeys.revoke({ kind: 'system' }, id, attempt))
    say('Revoked.')
  })

const keys = command(program, 'keys', 'Key-encryption keys, which wrap the custodial keys and every sealed text.')

const withKeys = <T>(work: (rotation: KeyRotation) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { createKeyRotation } = await import('./domain/keys/key-rotation.ts')
    return work(createKeyRotation(installation))
  })

command(keys, 'status', 'Shows which key wraps how much.')
  .option('--json', 'prints {"keys", "oldVersions", "lost"}')
  .action(async ({ json }) => {
    const status = await withKeys((rotation) => rotation.status())
    if (status.lost) process.exitCode = FAILURE
    if (json) return printJson(status)
    const rows = status.keys.map(({ id, isCurrent, wraps, total }) => [
      ...[id, isCurrent ? 'current' : 'earlier', String(wraps.user_keys), String(total - wraps.user_keys)],
    ])
    print(table([['key', 'state', 'custodial keys', 'sealed texts'], ...rows]))
    if (status.lost) say(red(`${status.lost} rows are wrapped by a key that the vault does not hold.`))
    if (status.oldVersions)
      say(`${status.oldVersions} custodial keys have no counterpart yet. Rotate to give them one.`)
  })

command(keys, 'rotate', 'Makes a new key and moves everything under it, beside a running server.')
  .option('--json', 'prints {"current", "isNew", "rewrapped", "unreadable"}')
  .addHelpText(
    'after',
    `
Can be interrupted: the next run goes on with what is left. With KEY_ENCRYPTION_KEY, set the new key there and the earlier
one in KEY_ENCRYPTION_KEY_PREVIOUS, restart every server, and then rotate.`,
  )
  .action(async ({ json }) => {
    const isTerminal = process.stderr.isTTY
    let told = 0
    const tell = (done: number, total: number) => {
      const isDue = performance.now() - told > 1_000 || done === total
      if (!isDue) return
      told = performance.now()
      process.stderr.write(`${isTerminal ? '\r' : ''}${done} of ${total} wrapped anew${isTerminal ? '' : '\n'}`)
    }
    const { rotation, status } = await withKeys(async ({ rotate, status }) => ({
      rotation: await rotate(tell),
      status: await status(),
    }))
    if (isTerminal && rotation.rewrapped) say('')
    if (rotation.unreadable.length) process.exitCode = FAILURE
    if (json) return printJson(rotation)
    const { current, isNew, rewrapped, unreadable } = rotation
    print(
      table([
        ['key', `${current}${isNew ? ' (new)' : ''}`],
        ['wrapped anew', String(rewrapped)],
      ]),
    )
    for (const { id, reason } of unreadable) say(red(`${id} does not open: ${reason}`))
    const earlier = status.keys.filter(({ isCurrent }) => !isCurrent)
    const left = earlier.reduce((sum, { total }) => sum + total, 0)
    if (left) return say(`${left} rows are still under an earlier key. Rotate again to go on.`)
    if (earlier.length)
      say(green('Nothing is left under an earlier key. It may be destroyed: annal keys destroy-earlier'))
    else if (!isNew && !rewrapped)
      say('Set a new KEY_ENCRYPTION_KEY, and the earlier one as KEY_ENCRYPTION_KEY_PREVIOUS.')
  })

command(keys, 'destroy-earlier', 'Destroys earlier keys, once nothing is left under them.')
  .option('--json', 'prints {"destroyed"}')
  .addHelpText(
    'after',
    `
Refuses while something is left under one, and for 15 minutes after a rotation.
Keys that are given as variables are the operator's to remove.`,
  )
  .action(async ({ json }) => {
    const destroyed = await withKeys((rotation) => rotation.destroyEarlier())
    if (json) return printJson({ destroyed })
    for (const id of destroyed) print(id)
    say(destroyed.length ? `${destroyed.length} destroyed.` : 'There was none to destroy.')
  })

interface GrantFlags {
  user: string
  points: string
  reason: string
  expires?: string
  idempotencyKey?: string
  json?: true
}

command(program, 'grant', 'Gives points to a user.')
  .requiredOption('--user <user>', 'identifier, e-mail address or username')
  .requiredOption('--points <amount>', 'how many, such as 0.5')
  .requiredOption('--reason <text>', 'why, at most 500 characters')
  .option('--expires <moment>', 'until when they can be spent, such as 2027-01-01T00:00:00Z; default: for ever')
  .option('--idempotency-key <key>', 'given again with the same key, they are given once')
  .option('--json', 'prints {"id", "userId", "amount", "expiresAt", "replayed"}')
  .action(async ({ user, points, reason, expires, idempotencyKey, json }: GrantFlags) => {
    const expiresAt = expires === undefined ? undefined : new Date(expires)
    const attempt = { key: idempotencyKey, replayed: false }
    const grant = await withApp(({ services: { grants } }) =>
      grants.grant({ kind: 'system' }, { userId: user, amount: points, reason, expiresAt }, attempt),
    )
    const made = { id: toId('grant', grant.id), userId: toId('user', grant.userId), amount: formatAmount(grant.amount) }
    if (json) return printJson({ ...made, expiresAt: grant.expiresAt, replayed: attempt.replayed })
    print(
      table([
        ['id', made.id],
        ['user', made.userId],
        ['points', made.amount],
        ['expires', grant.expiresAt?.toISOString() ?? 'never'],
      ]),
    )
    if (attempt.replayed) say('They had been given before with this key; nothing was added.')
  })

command(program, 'check', 'Checks the books and the histories; exits with 1 when something contradicts them.')
  .option('--json', 'prints every invariant with the rows that contradict it')
  .action(async ({ json }) => {
    const results = await withInstallation(({ database }) => checkInvariants(database))
    const broken = results.filter(({ rows }) => rows.length > 0)
    if (broken.length) process.exitCode = FAILURE
    if (json) {
      return printJson(
        results.map(({ invariant: { id, sentence }, rows }) => ({ id, sentence, holds: !rows.length, rows })),
      )
    }
    const verdict = (rows: object[]) => (rows.length ? `${rows.length} wrong` : 'holds')
    print(table(results.map(({ invariant, rows }) => [invariant.id, verdict(rows), invariant.sentence])))
    for (const { invariant, rows } of broken) for (const row of rows) print(`${invariant.id}  ${JSON.stringify(row)}`)
    say(broken.length ? red('The database contradicts itself.') : green('Everything holds.'))
  })

command(program, 'config', 'Prints every variable with its effective value; secrets are not shown.')
  .option('--json', 'prints a list of {"name", "value", "doc"}')
  .action(({ json }) => {
    const variables = effectiveConfig()
    if (json) return printJson(variables.map((variable) => ({ ...variable, value: variable.value ?? null })))
    print(table(variables.map(({ name, value, doc }) => [name, value === undefined ? '-' : String(value), doc])))
  })

command(program, 'gc', 'Forgets what has expired and removes the blocks that no asset needs.')
  .option('--json', 'prints {"removedBlocks"}')
  .action(async ({ json }) => {
    const removedBlocks = await withApp(async ({ maintenance, services: { deletions } }) => {
      await deletions.sweep()
      await maintenance.sweep()
      return maintenance.collectGarbage()
    })
    if (json) return printJson({ removedBlocks })
    print(`${removedBlocks} ${removedBlocks === 1 ? 'block' : 'blocks'} removed`)
  })

interface VerifyFlags {
  rpcUrl?: string
  registry?: string
  gateway?: string
  recorder?: string[]
  json?: true
}

/** Three flags name the chain, the contract and the file network: then nothing of Annal is asked or trusted. */
async function verify(nid: string, { rpcUrl, registry: address, gateway, recorder: recorders }: VerifyFlags) {
  const given = [rpcUrl, address, gateway].filter((flag) => flag !== undefined)
  const { verifyHistory } = await import('./chain/verify.ts')
  if (rpcUrl && address && gateway) {
    const { createRegistry } = await import('./chain/registry.ts')
    const { createGatewayClient } = await import('./files/gateway-client.ts')
    const files = createGatewayClient({ url: gateway })
    return verifyHistory({ nid, registry: createRegistry({ rpcUrl, address }), files, recorders })
  }
  if (given.length) {
    throw new CommanderError(
      WRONG_USAGE,
      'annal.verify',
      'Give --rpc-url, --registry and --gateway together, or none of them.',
    )
  }
  return withInstallation(async (installation) => {
    const { config, contentStore } = installation
    const { connectChain } = await import('./installation.ts')
    const { createRelayAccount } = await import('./chain/keys.ts')
    const { developmentKey } = await import('./platform/embedded-anvil.ts')
    const chain = await connectChain(installation, publicUrlOf(installation))
    const ours = (config.chain.relayKeys ?? [developmentKey]).map((key) => createRelayAccount(key).address)
    const options: VerifyOptions = { nid, registry: chain.registry, files: contentStore, recorders: recorders ?? ours }
    try {
      return await verifyHistory(options)
    } finally {
      await chain.close()
    }
  })
}

function printVerification({ nid, agrees, file, commits, foreign }: Verification) {
  const rows = commits.map(({ blockNumber, transactionHash, commitData, checks }) => {
    const bad = checks.filter(({ result }) => result !== 'right')
    const time = commitData ? new Date(commitData.timestampCreated * 1000).toISOString() : '-'
    const findings = bad.map(({ name, result, finding }) => `${name} ${result}: ${finding}`).join(' ')
    return [String(blockNumber), transactionHash, time, commitData?.actionName ?? '-', findings || 'right']
  })
  print(table([['block', 'transaction', 'time', 'action', 'checks'], ...rows]))
  print(`file: ${file.finding ?? file.result}`)
  if (foreign) say(`${foreign} commits of other accounts about this asset were left out.`)
  if (!commits.length) say(red(`The chain holds no commit of ${nid}.`))
  else if (agrees) say(green(`${commits.length} commits: chain, trees, hashes, signatures and order agree.`))
  else say(red('The history does not hold, or a part of it could not be read.'))
}

command(program, 'verify', "Checks an asset's history with nothing but the chain and the file network.")
  .argument('<nid>', "the asset's identifier")
  .option('--rpc-url <url>', "somebody's chain node")
  .option('--registry <address>', 'the ERC-7053 registry there')
  .option('--gateway <url>', "somebody's IPFS gateway, or Annal's own address")
  .option(
    '--recorder <address...>',
    "accounts whose commits count; default: this installation's, or all with --rpc-url",
  )
  .option('--json', 'prints the commits with every check')
  .addHelpText(
    'after',
    `
Examples:
  $ annal verify bafkrei…
  $ annal verify bafkrei… --rpc-url https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json`,
  )
  .action(async (nid: string, flags: VerifyFlags) => {
    const verification = await verify(nid, flags)
    if (!verification.agrees) process.exitCode = FAILURE
    if (flags.json) printJson(verification)
    else printVerification(verification)
  })

function explain(error: unknown): { text: string; code: number } {
  if (error instanceof ConfigError) return { text: error.message, code: WRONG_USAGE }
  if (error instanceof DomainError) {
    const details = error.details === undefined ? '' : `\n${JSON.stringify(error.details, null, 2)}`
    return { text: error.message + details, code: error.code === 'VALIDATION_FAILED' ? WRONG_USAGE : FAILURE }
  }
  return { text: error instanceof Error ? error.message : String(error), code: FAILURE }
}

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Help and version come here as well, as errors with the code 0; what was wrong otherwise is said already.
    if (error.code.startsWith('annal.')) say(red(error.message))
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE
  } else {
    const { text, code } = explain(error)
    say(red(text))
    // A part that came up before another one failed must not keep an operator waiting.
    process.exit(code)
  }
}
