/** Checks of what is configured: alone, together, and where callers come in. */
import ipaddr from 'ipaddr.js'
import { ownUrl } from '../own-url.ts'
import { type Diagnosis, right, toKnow, warning, wrong } from './diagnosis.ts'
import { holdsSecret } from './holds-secret.ts'
import type { Parts } from './parts.ts'

/** Every variable by itself and all together. */
export async function checkConfiguration({ readConfig, env }: Parts): Promise<Diagnosis[]> {
  const { ConfigError, findUnread } = await import('../../config.ts')
  try {
    const { production } = await readConfig()
    const unread = findUnread(env).map((finding) =>
      warning(finding, 'Correct its name, or take it away; `annal config` lists all that are read.'),
    )
    return [right(`The configuration can be read; it is for ${production ? 'production' : 'development'}.`), ...unread]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) =>
      wrong(problem, 'Set it right where the server gets its variables; `annal config` tells what each means.'),
    )
  }
}

/** Secrets that stand in the environment, where every child process and many a crash report has them. */
export async function checkSecrets({ config, env }: Parts): Promise<Diagnosis[]> {
  const { production, files } = await config()
  const { hasPlainAwsSecret, plainSecrets } = await import('../../config.ts')
  const plain = plainSecrets(env).flatMap(({ name, value }) => (holdsSecret(value) ? [name] : []))
  const ways = plain.length === 0 ? [] : [`name it: ${plain.map((name) => `${name}_FILE`).join(', ')}`]
  if (files.s3 && hasPlainAwsSecret(env)) {
    plain.push('AWS_SECRET_ACCESS_KEY')
    ways.push('give those of AWS as a file of credentials: AWS_SHARED_CREDENTIALS_FILE')
  }
  if (plain.length === 0) return [right('No secret stands in a plain variable.')]
  const fix = `Write each into a file that only the service reads, and ${ways.join('; ')}.`
  const finding = `Secrets stand in plain variables: ${plain.join(', ')}.`
  return [production ? warning(finding, fix) : toKnow(finding, fix)]
}

/** Embedded parts, which a production of several processes cannot share. */
export async function checkEmbedded({ config }: Parts): Promise<Diagnosis[]> {
  const { production, database, chain, files, keys, mail } = await config()
  const embedded = [
    !database.url && 'database (DATABASE_URL)',
    !chain.rpcUrl && 'chain (CHAIN_RPC_URL, CHAIN_RELAY_KEYS)',
    !files.kuboUrl && !files.s3 && 'file store (S3_BUCKET or IPFS_API_URL)',
    !keys.key && 'key (KEY_ENCRYPTION_KEY)',
    !mail.smtpUrl && 'mail (SMTP_URL)',
  ].filter((part) => part !== false)
  if (embedded.length === 0) return [right('No part is embedded.')]
  const finding = `Embedded on this machine: ${embedded.join(', ')}.`
  if (!production) return [toKnow(finding)]
  const diagnoses = [
    warning(finding, 'Set the variables that are named, or back ANNAL_DIR up as docs/operations.md tells.'),
  ]
  if (chain.embeddedDeposits && !chain.rpcUrl) {
    const danger = 'ANNAL_EMBEDDED_DEPOSITS credits coins that whoever runs this machine makes for nothing.'
    diagnoses.push(wrong(danger, 'Take the variable away.'))
  }
  return diagnoses
}

/** Where links lead, and whose address a caller is taken to have. */
export async function checkPublicUrl({ config }: Parts): Promise<Diagnosis[]> {
  const { production, publicUrl, port, trustedProxies } = await config()
  if (publicUrl === undefined) return [toKnow(`PUBLIC_URL is not set: links lead to http://localhost:${port}.`)]
  const { protocol, hostname } = new URL(publicUrl)
  const isLocal = /^(localhost|127\.|\[::1\])|\.localhost$/.test(hostname)
  if (!production) return [right(`Links lead to ${publicUrl}.`)]
  const diagnoses: Diagnosis[] = []
  if (isLocal)
    diagnoses.push(wrong(`PUBLIC_URL is ${publicUrl}: nobody else reaches that.`, 'Set the address that callers use.'))
  if (protocol !== 'https:') {
    const fix = 'Let a proxy speak TLS before Annal, and set PUBLIC_URL to its https:// address.'
    diagnoses.push(wrong(`PUBLIC_URL is ${publicUrl}: passwords and tokens can be read on the way.`, fix))
  } else if (trustedProxies.length === 0) {
    const finding =
      'PUBLIC_URL is https, and TRUSTED_PROXIES is empty: all callers count as one, the proxy, and share its limits.'
    diagnoses.push(warning(finding, "Name the proxy's address in TRUSTED_PROXIES."))
  }
  return diagnoses.length ? diagnoses : [right(`Links lead to ${publicUrl}.`)]
}

/** What production should not let in. */
export async function checkExposure({ config, env }: Parts): Promise<Diagnosis[]> {
  const { production, graphql, emailVerification, store, trustedProxies } = await config()
  const { effectiveConfig } = await import('../../config.ts')
  const insecure = effectiveConfig(env).find(({ name }) => name === 'ALLOW_INSECURE_WEBHOOKS')?.value === true
  const away = 'Take ALLOW_INSECURE_WEBHOOKS away.'
  const diagnoses: Diagnosis[] = []
  if (coversAllAddresses(trustedProxies)) {
    const finding =
      'TRUSTED_PROXIES contains every address: each caller chooses their own address, and passes every limit.'
    const fix = 'Name only the addresses of your proxies in TRUSTED_PROXIES.'
    diagnoses.push(production ? warning(finding, fix) : toKnow(finding, fix))
  }
  if (!production) {
    if (store.allowInsecureWebhooks) {
      diagnoses.push(toKnow('Webhooks may go over http and to internal addresses.', `${away} It is for development.`))
    }
    return diagnoses.length ? diagnoses : [right('Nothing is open that should be shut.')]
  }
  if (insecure) diagnoses.push(warning('ALLOW_INSECURE_WEBHOOKS is set; in production it has no effect.', away))
  if (graphql.playground) {
    diagnoses.push(toKnow('The playground is open in production.', 'Set GRAPHQL_INTROSPECTION to false to close it.'))
  }
  if (emailVerification === 'off') {
    const fix = 'Set EMAIL_VERIFICATION to `on` or `required`.'
    diagnoses.push(toKnow('Anybody can sign up with an address that is not theirs.', fix))
  }
  return diagnoses.length ? diagnoses : [right('Nothing is open that should be shut.')]
}

const ASK_MS = 5_000

async function versionAt(url: string): Promise<string> {
  const response = await fetch(`${url}/version`, { signal: AbortSignal.timeout(ASK_MS), redirect: 'manual' })
  const body = (await response.json().catch(() => ({}))) as { version?: unknown }
  if (response.status !== 200 || typeof body.version !== 'string') {
    throw new Error(`it answers with status ${response.status}, and is not Annal`)
  }
  return body.version
}

const reasonOf = (error: unknown) => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

/** Whether a server runs here, of which version, and whether PUBLIC_URL leads to it. */
export async function checkServer({ config, version }: Parts): Promise<Diagnosis[]> {
  const { host, port, publicUrl } = await config()
  const here = ownUrl({ host, port })
  const diagnoses: Diagnosis[] = []
  const running = await versionAt(here).catch(() => undefined)
  if (running === undefined) {
    diagnoses.push(toKnow(`No server answers at ${here}.`, 'Start one, where one should run: `annal serve`.'))
  } else if (running !== version) {
    const finding = `The server at ${here} is of version ${running}, and this command of ${version}.`
    diagnoses.push(warning(finding, 'Restart the server after an upgrade, and use the command that belongs to it.'))
  } else diagnoses.push(await readiness(here))
  if (publicUrl === undefined) return diagnoses
  try {
    const found = await versionAt(publicUrl)
    if (running !== undefined && found !== running) {
      const finding = `PUBLIC_URL leads to version ${found}, and here runs ${running}.`
      diagnoses.push(warning(finding, 'Look whether PUBLIC_URL, or the proxy there, leads to this installation.'))
    } else diagnoses.push(right(`${publicUrl} leads to Annal.`))
  } catch (error) {
    const finding = `${publicUrl} is not reached from here: ${reasonOf(error)}.`
    diagnoses.push(
      warning(finding, 'Look at the proxy, the certificate and the name, and from outside: links in mails lead there.'),
    )
  }
  return diagnoses
}

async function readiness(url: string): Promise<Diagnosis> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ASK_MS) })
  const { status, missing = [] } = (await response.json()) as { status: string; missing?: string[] }
  if (status === 'ok') return right(`The server at ${url} is ready.`)
  const finding = `The server at ${url} is ${status}: ${missing.join(', ')}.`
  const fix = 'docs/operations.md tells what to do about each part that is down.'
  return response.ok ? warning(finding, fix) : wrong(finding, fix)
}

interface Range {
  first: bigint
  last: bigint
}

const toNumber = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address.toByteArray().reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)

function rangeOf([address, prefix]: [ipaddr.IPv4 | ipaddr.IPv6, number], bits: number): Range {
  const size = 1n << BigInt(bits - prefix)
  const first = (toNumber(address) / size) * size
  return { first, last: first + size - 1n }
}

/** Returns whether addresses and CIDRs together contain every IPv4 address, or every IPv6 address. */
function coversAllAddresses(networks: readonly string[]): boolean {
  const parsed = networks.map((network) =>
    network.includes('/')
      ? ipaddr.parseCIDR(network)
      : ([ipaddr.parse(network), ipaddr.parse(network).kind() === 'ipv4' ? 32 : 128] satisfies [unknown, number]),
  )
  return (['ipv4', 'ipv6'] as const).some((kind) => {
    const bits = kind === 'ipv4' ? 32 : 128
    const ranges = parsed
      .filter(([address]) => address.kind() === kind)
      .map((network) => rangeOf(network, bits))
      .sort((a, b) => (a.first < b.first ? -1 : 1))
    let next = 0n
    for (const { first, last } of ranges) {
      if (first > next) return false
      if (last >= next) next = last + 1n
    }
    return next === 1n << BigInt(bits)
  })
}
