/** Checks of the configuration, the machine and the running server. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { BlockList, isIP } from 'node:net'
import { freemem, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { parseDatabaseUrl } from '../../db/parse-database-url.ts'
import { openFileLimit } from '../../http/connections.ts'
import { localUrl } from '../with-infrastructure.ts'
import { type Diagnosis, failure, formatBytes, info, ok, type Parts, warning } from './diagnosis.ts'

export async function checkConfiguration({ readConfig, env }: Parts): Promise<Diagnosis[]> {
  const { findUnread } = await import('../../config.ts')
  const { ConfigError } = await import('../../shared/operator-errors.ts')
  try {
    const { production } = await readConfig()
    const unread = findUnread(env).map((finding) =>
      warning(finding, 'Correct the name or remove the variable. `annal config` lists all variables.'),
    )
    return [ok(`The configuration is valid, for ${production ? 'production' : 'development'}.`), ...unread]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) =>
      failure(problem, 'Correct the variable. `annal config` describes all variables.'),
    )
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns true if a host is this machine, so that the traffic stays on it. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const family = isIP(name)
  if (family === 0) return /^(.+\.)?localhost$/i.test(name)
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6')
}

/** Returns the hosts and socket folders in a URL. */
function hostsOf(url: string): string[] {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { hostname, searchParams } = parseDatabaseUrl(url)
    return [searchParams.get('host') ?? hostname]
  }
  const { protocol, hostname } = new URL(url)
  // An IPC socket is on this machine.
  return protocol === 'ipc:' ? [] : [hostname]
}

/**
 * Returns true if a URL contains credentials in its authority or query. With HTTP, a user name alone may be a token.
 */
function hasCredentials(url: string): boolean {
  const [authority = ''] = url.slice(url.indexOf('://') + 3).split(/[/?#]/, 1)
  const userInfo = authority.slice(0, Math.max(authority.lastIndexOf('@'), 0))
  const isWeb = /^https?:/i.test(url)
  if (isWeb ? userInfo !== '' : userInfo.includes(':')) return true
  return /[?&](?:ssl)?password=./i.test(url)
}

/**
 * Returns true if the value of a secret variable is really a secret. A URL of this machine without credentials is
 * not.
 */
function isSecret(value: string): boolean {
  if (!/^[a-z]+:\//i.test(value)) return true
  try {
    if (hasCredentials(value)) return true
    return !hostsOf(value).every((host) => host === '' || host.startsWith('/') || isLoopback(host))
  } catch {
    return true
  }
}

/** Finds secrets in environment variables, which child processes inherit and crash reports may contain. */
export async function checkSecrets({ config, env }: Parts): Promise<Diagnosis[]> {
  const { production, files } = await config()
  const { hasPlainAwsSecret, plainSecrets } = await import('../../config.ts')
  const plain = plainSecrets(env).flatMap(({ name, value }) => (isSecret(value) ? [name] : []))
  const ways = plain.length === 0 ? [] : [`set ${plain.map((name) => `${name}_FILE`).join(', ')} to its path`]
  if (files.s3 && hasPlainAwsSecret(env)) {
    plain.push('AWS_SECRET_ACCESS_KEY')
    ways.push('for AWS use a credentials file: AWS_SHARED_CREDENTIALS_FILE')
  }
  if (plain.length === 0) return [ok('No secret is in an environment variable.')]
  const fix = `Write each secret to a file that only the service can read, and ${ways.join('; ')}.`
  const finding = `Environment variables contain secrets: ${plain.join(', ')}.`
  return [production ? warning(finding, fix) : info(finding, fix)]
}

export async function checkEmbedded({ config }: Parts): Promise<Diagnosis[]> {
  const { production, database, chain, files, keys, mail } = await config()
  const embedded = [
    !database.url && 'database (DATABASE_URL)',
    !chain.rpcUrl && 'chain (CHAIN_RPC_URL, CHAIN_RELAY_KEYS)',
    !files.kuboUrl && !files.s3 && 'file store (S3_BUCKET or IPFS_API_URL)',
    !keys.key && 'key (KEY_ENCRYPTION_KEY)',
    !mail.smtpUrl && 'mail (SMTP_URL)',
  ].filter((part) => part !== false)
  if (embedded.length === 0) return [ok('No part is embedded.')]
  const finding = `Embedded on this machine: ${embedded.join(', ')}.`
  if (!production) return [info(finding)]
  const fix = 'Set these variables, or back up ANNAL_DIR as described in docs/how-to/back-up-and-restore.md.'
  if (!chain.embeddedDeposits || chain.rpcUrl) return [warning(finding, fix)]
  const danger = 'ANNAL_EMBEDDED_DEPOSITS credits coins that every program on this machine can create.'
  return [warning(finding, fix), failure(danger, 'Remove the variable.')]
}

export async function checkPublicUrl({ config }: Parts): Promise<Diagnosis[]> {
  const { production, publicUrl, port, trustedProxies } = await config()
  if (publicUrl === undefined) return [info(`PUBLIC_URL is not set: links start with http://localhost:${port}.`)]
  if (!production) return [ok(`Links start with ${publicUrl}.`)]
  const { protocol, hostname } = new URL(publicUrl)
  const diagnoses: Diagnosis[] = []
  if (isLoopback(hostname)) {
    const finding = `PUBLIC_URL is ${publicUrl}, which only this machine can reach.`
    diagnoses.push(failure(finding, 'Set PUBLIC_URL to the address that callers use.'))
  }
  if (protocol !== 'https:') {
    const fix = 'Put a TLS proxy in front of Annal, and set PUBLIC_URL to its https:// address.'
    diagnoses.push(failure(`PUBLIC_URL is ${publicUrl}: passwords and tokens are sent unencrypted.`, fix))
  } else if (trustedProxies.length === 0) {
    const finding =
      'PUBLIC_URL is https, but TRUSTED_PROXIES is empty: all callers have the address of the proxy and share its rate limits.'
    diagnoses.push(warning(finding, 'Add the address of the proxy to TRUSTED_PROXIES.'))
  }
  return diagnoses.length ? diagnoses : [ok(`Links start with ${publicUrl}.`)]
}

/** Returns true if the addresses and CIDR ranges together cover all IPv4 addresses, or all IPv6 addresses. */
function coversAllAddresses(networks: readonly string[]): boolean {
  return ['ipv4', 'ipv6'].some((kind) => {
    const prefixes = networks
      .map((network) => (network.includes('/') ? ipaddr.parseCIDR(network) : ([ipaddr.parse(network), 128] as const)))
      .filter(([address]) => address.kind() === kind)
      .map(([address, length]) => toBits(address).slice(0, length))
    const covers = (prefix: string): boolean =>
      prefixes.some((each) => prefix.startsWith(each)) ||
      (prefixes.some((each) => each.startsWith(prefix)) && covers(`${prefix}0`) && covers(`${prefix}1`))
    return covers('')
  })
}

const toBits = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')

/** Finds settings that are unsafe in production. */
export async function checkExposure({ config, env }: Parts): Promise<Diagnosis[]> {
  const { production, graphql, emailVerification, store, trustedProxies } = await config()
  const { effectiveConfig } = await import('../../config.ts')
  const allowsInsecureWebhooks =
    effectiveConfig(env).find(({ name }) => name === 'ALLOW_INSECURE_WEBHOOKS')?.value === true
  const diagnoses: Diagnosis[] = []
  if (coversAllAddresses(trustedProxies)) {
    const finding =
      'TRUSTED_PROXIES contains every address: callers can choose their own address and avoid all rate limits.'
    const fix = 'Add only the addresses of your proxies to TRUSTED_PROXIES.'
    diagnoses.push(production ? warning(finding, fix) : info(finding, fix))
  }
  const fix = 'Remove ALLOW_INSECURE_WEBHOOKS.'
  if (production && allowsInsecureWebhooks)
    diagnoses.push(warning('ALLOW_INSECURE_WEBHOOKS is set; in production it has no effect.', fix))
  if (!production && store.allowInsecureWebhooks)
    diagnoses.push(info('Webhooks may use http and internal addresses.', `${fix} It is for development.`))
  if (production && graphql.playground)
    diagnoses.push(info('The playground is public.', 'Set GRAPHQL_INTROSPECTION to false to close it.'))
  if (production && emailVerification === 'off') {
    const finding = 'Anyone can sign up with the e-mail address of somebody else.'
    diagnoses.push(info(finding, 'Set EMAIL_VERIFICATION to `on` or `required`.'))
  }
  return diagnoses.length ? diagnoses : [ok('No setting is unsafe.')]
}

/** First Node version that runs TypeScript sources. */
const OLDEST_NODE = [22, 18] as const
const TESTED_NODE = 24

export async function checkNode(): Promise<Diagnosis[]> {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const [oldest, oldestMinor] = OLDEST_NODE
  const fix = 'Use `npm start` or `npm run annal`, which use the Node that npm installed, or install Node 24.'
  if (major < oldest || (major === oldest && minor < oldestMinor)) return [failure(`Node ${node} is too old.`, fix)]
  return [
    major < TESTED_NODE ? warning(`Node ${node}; Annal is tested with Node ${TESTED_NODE}.`, fix) : ok(`Node ${node}.`),
  ]
}

const FEW_FILES = 4_096

export async function checkOpenFiles(): Promise<Diagnosis[]> {
  const limit = openFileLimit()
  if (limit === Number.POSITIVE_INFINITY) return [ok('The number of open files is not limited.')]
  if (limit >= FEW_FILES) return [ok(`Up to ${limit} files and connections can be open.`)]
  return [
    warning(
      `Only ${limit} files and connections can be open in this shell. A server needs one for each caller.`,
      'Raise the limit where the server starts: `ulimit -n 65536`, or `LimitNOFILE=65536` for systemd.',
    ),
  ]
}

const LITTLE_MEMORY_BYTES = 1_000_000_000
const LITTLE_FREE_MEMORY_BYTES = 200_000_000

/** Checks the memory of the container or the machine. */
export async function checkMemory(): Promise<Diagnosis[]> {
  const limit = process.constrainedMemory()
  const isLimited = limit > 0 && limit < totalmem()
  const total = isLimited ? limit : totalmem()
  const free = Math.max(process.availableMemory(), isLimited ? 0 : freemem())
  const finding = `${formatBytes(total)} of memory${isLimited ? ' in this container' : ''}, ${formatBytes(free)} free.`
  const fix = 'Provide 1 GB, and 1 GB more for each embedded part. See docs/how-to/plan-capacity.md.'
  return total < LITTLE_MEMORY_BYTES || free < LITTLE_FREE_MEMORY_BYTES ? [warning(finding, fix)] : [ok(finding)]
}

const NO_SPACE_BYTES = 500_000_000
const LITTLE_SPACE_BYTES = 5_000_000_000
const FEW_INODES = 20_000

/** Returns the path, or its nearest parent folder that exists. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

/** Returns the data folder, and its subfolders on other disks. */
function foldersByDisk(dir: string): string[] {
  const isFolder = statSync(dir, { throwIfNoEntry: false })?.isDirectory()
  const inside = isFolder ? readdirSync(dir).map((name) => join(dir, name)) : []
  const byDisk = new Map<number, string>()
  for (const path of [nearestExisting(dir), ...inside]) {
    const disk = statSync(path, { throwIfNoEntry: false })?.dev
    if (disk !== undefined && !byDisk.has(disk)) byDisk.set(disk, path)
  }
  return [...byDisk.values()]
}

export async function checkDisk({ config }: Parts): Promise<Diagnosis[]> {
  const { dir } = await config()
  return Promise.all(
    foldersByDisk(dir).map(async (folder) => {
      const { bavail, bsize, files, ffree } = await statfs(folder)
      const space = bavail * bsize
      const finding = `${formatBytes(space)} free in ${folder}.`
      const fix = 'Free space or grow the disk. `annal gc` deletes unused blocks. Uploads fail on a full disk.'
      if (space < NO_SPACE_BYTES) return failure(finding, fix)
      // Some file systems report no inodes.
      if (files > 0 && ffree < FEW_INODES) return warning(`Only ${ffree} more files fit in ${folder}.`, fix)
      return space < LITTLE_SPACE_BYTES ? warning(finding, fix) : ok(finding)
    }),
  )
}

/** Checks that other users of the machine cannot read files, mails and keys. */
export async function checkFolders({ config }: Parts): Promise<Diagnosis[]> {
  const { dir } = await config()
  if (existsSync(dir) && !statSync(dir).isDirectory())
    return [failure(`ANNAL_DIR is ${dir}, which is not a folder.`, 'Set ANNAL_DIR to a folder or a new path.')]
  const { findOpenFolders } = await import('../../shared/private-files.ts')
  const open = await findOpenFolders(dir)
  if (open === undefined) return [info(`${dir} does not exist yet. The first start creates it.`)]
  if (open.length === 0) return [ok(`Other users cannot read ${dir}.`)]
  return open.map((path) =>
    failure(
      `Other users of this machine can read ${path}.`,
      `Run \`chmod go= ${path}\` as its owner. The start of the server does it, too.`,
    ),
  )
}

const REQUEST_MS = 5_000

async function readVersion(url: string): Promise<string> {
  const response = await fetch(`${url}/version`, { signal: AbortSignal.timeout(REQUEST_MS), redirect: 'manual' })
  const body = (await response.json().catch(() => ({}))) as { version?: unknown }
  if (response.status === 200 && typeof body.version === 'string') return body.version
  throw new Error(`it responds with status ${response.status}, so it is not Annal`)
}

const reasonOf = (error: unknown) => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

async function checkReadiness(url: string): Promise<Diagnosis> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(REQUEST_MS) })
  const { status, missing = [] } = (await response.json()) as { status: string; missing?: string[] }
  if (status === 'ok') return ok(`The server at ${url} is ready.`)
  const finding = `The server at ${url} is ${status}: ${missing.join(', ')}.`
  const fix = 'docs/how-to/diagnose-a-problem.md describes what to do.'
  return response.ok ? warning(finding, fix) : failure(finding, fix)
}

/** Checks whether a server runs here, its version, and whether PUBLIC_URL leads to it. */
export async function checkServer({ config, version }: Parts): Promise<Diagnosis[]> {
  const { host, port, publicUrl } = await config()
  const here = localUrl({ host, port })
  const diagnoses: Diagnosis[] = []
  const running = await readVersion(here).catch(() => undefined)
  if (running === undefined) {
    diagnoses.push(info(`No server runs at ${here}.`, 'If one should run, start it: `annal serve`.'))
  } else if (running !== version) {
    const finding = `The server at ${here} has version ${running}, and this command has ${version}.`
    diagnoses.push(warning(finding, 'Restart the server after an upgrade, and use the command of the same version.'))
  } else diagnoses.push(await checkReadiness(here))
  if (publicUrl === undefined) return diagnoses
  try {
    const found = await readVersion(publicUrl)
    if (running !== undefined && found !== running) {
      const finding = `PUBLIC_URL leads to version ${found}, but version ${running} runs here.`
      diagnoses.push(warning(finding, 'Check whether PUBLIC_URL and its proxy lead to this installation.'))
    } else diagnoses.push(ok(`${publicUrl} leads to Annal.`))
  } catch (error) {
    const finding = `Cannot reach ${publicUrl} from here: ${reasonOf(error)}.`
    const fix = 'Check the proxy, the certificate and the host name, also from outside: links in mails use this URL.'
    diagnoses.push(warning(finding, fix))
  }
  return diagnoses
}
