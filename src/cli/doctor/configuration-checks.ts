/** Checks of the configuration, the machine and the running server. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { effectiveConfig, findUnread, plainSecrets, readOther } from '../../config.ts'
import { openFileLimit } from '../../http/connections.ts'
import { ConfigError } from '../../shared/operator-errors.ts'
import { findOpenFolders } from '../../shared/private-files.ts'
import { localUrl } from '../with-infrastructure.ts'
import { type Checks, failure, formatBytes, info, messageOf, ok, warning } from './diagnosis.ts'

/** Returns true if a host is this machine, so that the traffic stays on it. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (!ipaddr.isValid(name)) return /^(.+\.)?localhost$/i.test(name)
  return ipaddr.process(name).range() === 'loopback'
}

/** Returns true if the value of a variable is a secret. A URL of this machine without credentials is not. */
function isSecret(value: string): boolean {
  const url = /^[a-z]+:\//i.test(value) ? URL.parse(value.replace('@/', '@localhost/')) : undefined
  if (!url) return true
  const { protocol, hostname, username, password, searchParams } = url
  const isLocal = protocol === 'ipc:' || searchParams.get('host')?.startsWith('/') || isLoopback(hostname)
  // With HTTP, a user name alone may be a token.
  const hasCredentials = password !== '' || (/^http/.test(protocol) && username !== '')
  return !isLocal || hasCredentials || /[?&](?:ssl)?password=./i.test(value)
}

/** Shortest prefix of a plausible network of proxies: that of the private network fc00::/7. */
const SHORTEST_PREFIX = 7
const TESTED_NODE = 24
const FEW_FILES = 4_096
const [LITTLE_MEMORY_BYTES, LITTLE_FREE_MEMORY_BYTES] = [1_000_000_000, 200_000_000]
const [NO_SPACE_BYTES, LITTLE_SPACE_BYTES] = [500_000_000, 5_000_000_000]
const FEW_INODES = 20_000

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

const REQUEST_MS = 5_000
const request = (url: string) => fetch(url, { signal: AbortSignal.timeout(REQUEST_MS), redirect: 'manual' })

/** Returns the version of the server at a URL. Throws an Error with the reason if there is none. */
async function readVersion(url: string): Promise<string> {
  const response = await request(`${url}/version`)
  const body = (await response.json().catch(() => ({}))) as { version?: unknown }
  if (response.status === 200 && typeof body.version === 'string') return body.version
  throw new Error(`it responds with status ${response.status}, so it is not Annal`)
}

export const configurationChecks = {
  async *configuration({ readConfig, env }) {
    try {
      const { production } = await readConfig()
      yield ok(`The configuration is valid, for ${production ? 'production' : 'development'}.`)
      for (const finding of findUnread(env))
        yield warning(finding, 'Correct the name or remove the variable. `annal config` lists all variables.')
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const problem of error.problems)
        yield failure(problem, 'Correct the variable. `annal config` describes all variables.')
    }
  },

  /** Finds secrets in environment variables, which child processes inherit and crash reports may contain. */
  async *secrets({ config, env }) {
    const { production, files } = await config()
    const plain = plainSecrets(env).flatMap(({ name, value }) => (isSecret(value) ? [name] : []))
    const ways = plain.length === 0 ? [] : [`set ${plain.map((name) => `${name}_FILE`).join(', ')} to its path`]
    if (files.s3 && readOther('AWS_SECRET_ACCESS_KEY', env)) {
      plain.push('AWS_SECRET_ACCESS_KEY')
      ways.push('for AWS use a credentials file: AWS_SHARED_CREDENTIALS_FILE')
    }
    if (plain.length === 0) return 'No secret is in an environment variable.'
    const fix = `Write each secret to a file that only the service can read, and ${ways.join('; ')}.`
    return (production ? warning : info)(`Environment variables contain secrets: ${plain.join(', ')}.`, fix)
  },

  async *embedded({ config }) {
    const { production, chain, embeddedParts } = await config()
    if (embeddedParts.length === 0) return 'No part is embedded.'
    const finding = `Embedded on this machine: ${embeddedParts.join(', ')}.`
    const fix = 'Set these variables, or back up ANNAL_DIR as described in docs/how-to/back-up-and-restore.md.'
    yield production ? warning(finding, fix) : info(finding)
    const danger = 'ANNAL_EMBEDDED_DEPOSITS credits coins that every program on this machine can create.'
    if (production && chain.embeddedDeposits && !chain.rpcUrl) yield failure(danger, 'Remove the variable.')
  },

  async *'public-url'({ config }) {
    const { production, publicUrl, port, trustedProxies } = await config()
    if (publicUrl === undefined) return info(`PUBLIC_URL is not set: links start with http://localhost:${port}.`)
    const { protocol, hostname } = new URL(publicUrl)
    if (production && isLoopback(hostname))
      yield failure(`Only this machine can reach PUBLIC_URL (${publicUrl}).`, 'Set it to the address that callers use.')
    if (production && protocol !== 'https:') {
      const fix = 'Put a TLS proxy in front of Annal, and set PUBLIC_URL to its https:// address.'
      yield failure(`PUBLIC_URL is ${publicUrl}: passwords and tokens are sent unencrypted.`, fix)
    } else if (production && trustedProxies.length === 0) {
      const finding =
        'PUBLIC_URL is https, but TRUSTED_PROXIES is empty: all callers share the rate limits of the proxy.'
      yield warning(finding, 'Add the address of the proxy to TRUSTED_PROXIES.')
    }
    return `Links start with ${publicUrl}.`
  },

  async *exposure({ config, env }) {
    const { production, graphql, emailVerification, store, trustedProxies } = await config()
    const variables = effectiveConfig(env)
    const isInsecure = variables.find(({ name }) => name === 'ALLOW_INSECURE_WEBHOOKS')?.value === true
    if (trustedProxies.some((network) => Number(network.split('/')[1] ?? SHORTEST_PREFIX) < SHORTEST_PREFIX)) {
      const finding =
        'TRUSTED_PROXIES contains a huge network: callers in it choose their own address and avoid rate limits.'
      yield (production ? warning : info)(finding, 'Add only the addresses of your proxies to TRUSTED_PROXIES.')
    }
    const fix = 'Remove ALLOW_INSECURE_WEBHOOKS.'
    if (production && isInsecure) yield warning('ALLOW_INSECURE_WEBHOOKS is set; in production it has no effect.', fix)
    if (!production && store.allowInsecureWebhooks)
      yield info('Webhooks may use http and internal addresses.', `${fix} It is for development.`)
    if (production && graphql.playground)
      yield info('The playground is public.', 'Set GRAPHQL_INTROSPECTION to false to close it.')
    if (production && emailVerification === 'off')
      yield info('E-mail addresses of new accounts are not verified.', 'Set EMAIL_VERIFICATION to `on` or `required`.')
    return 'No setting is unsafe.'
  },

  async *node() {
    const { node } = process.versions
    const [major = 0, minor = 0] = node.split('.').map(Number)
    const fix = 'Use `npm start` or `npm run annal`, which use the Node that npm installed, or install Node 24.'
    // Node 22.18 is the first version that runs TypeScript sources.
    if (major < 22 || (major === 22 && minor < 18)) yield failure(`Node ${node} is too old.`, fix)
    else if (major < TESTED_NODE) yield warning(`Node ${node}; Annal is tested with Node ${TESTED_NODE}.`, fix)
    return `Node ${node}.`
  },

  async *'open-files'() {
    const limit = openFileLimit()
    const fix = 'Raise the limit where the server starts: `ulimit -n 65536`, or `LimitNOFILE=65536` for systemd.'
    if (limit < FEW_FILES) yield warning(`Only ${limit} files and connections can be open in this shell.`, fix)
    return `${Number.isFinite(limit) ? `Up to ${limit}` : 'Any number of'} files and connections can be open.`
  },

  async *memory() {
    const limit = process.constrainedMemory()
    const isLimited = limit > 0 && limit < totalmem()
    const total = isLimited ? limit : totalmem()
    const free = Math.max(process.availableMemory(), isLimited ? 0 : freemem())
    const finding = `${formatBytes(total)} of memory${isLimited ? ' in this container' : ''}, ${formatBytes(free)} free.`
    if (total < LITTLE_MEMORY_BYTES || free < LITTLE_FREE_MEMORY_BYTES)
      yield warning(finding, 'Provide 1 GB, and 1 GB more for each embedded part. See docs/how-to/plan-capacity.md.')
    return finding
  },

  async *disk({ config }) {
    const fix = 'Free space or grow the disk. `annal gc` deletes unused blocks. Uploads fail on a full disk.'
    for (const folder of foldersByDisk((await config()).dir)) {
      const { bavail, bsize, files, ffree } = await statfs(folder)
      const space = bavail * bsize
      const finding = `${formatBytes(space)} free in ${folder}.`
      if (space < NO_SPACE_BYTES) yield failure(finding, fix)
      // Some file systems report no inodes.
      else if (files > 0 && ffree < FEW_INODES) yield warning(`Only ${ffree} more files fit in ${folder}.`, fix)
      else yield space < LITTLE_SPACE_BYTES ? warning(finding, fix) : ok(finding)
    }
  },

  /** Checks that other users of the machine cannot read files, mails and keys. */
  async *folders({ config }) {
    const { dir } = await config()
    if (existsSync(dir) && !statSync(dir).isDirectory())
      return failure(`ANNAL_DIR is ${dir}, which is not a folder.`, 'Set ANNAL_DIR to a folder or a new path.')
    const open = await findOpenFolders(dir)
    if (open === undefined) return `${dir} does not exist yet. The first start creates it.`
    for (const path of open) {
      const fix = `Run \`chmod go= ${path}\` as its owner. The start of the server does it, too.`
      yield failure(`Other users of this machine can read ${path}.`, fix)
    }
    return `Other users cannot read ${dir}.`
  },

  /** Checks whether a server runs here, its version, and whether PUBLIC_URL leads to it. */
  async *server({ config, version }) {
    const { host, port, publicUrl } = await config()
    const here = localUrl({ host, port })
    const running = await readVersion(here).catch(() => undefined)
    if (running === undefined) yield info(`No server runs at ${here}.`, 'If one should run, start it: `annal serve`.')
    else if (running !== version) {
      const finding = `The server at ${here} has version ${running}, and this command has ${version}.`
      yield warning(finding, 'Restart the server after an upgrade, and use the command of the same version.')
    } else {
      const response = await request(`${here}/readyz`)
      const { status, missing = [] } = (await response.json()) as { status: string; missing?: string[] }
      const finding = `The server at ${here} is ${status}: ${missing.join(', ')}.`
      if (status === 'ok') yield ok(`The server at ${here} is ready.`)
      else yield (response.ok ? warning : failure)(finding, 'docs/how-to/diagnose-a-problem.md describes what to do.')
    }
    if (publicUrl === undefined) return
    try {
      const found = await readVersion(publicUrl)
      const finding = `PUBLIC_URL leads to version ${found}, but version ${running} runs here.`
      if (running === undefined || found === running) yield ok(`${publicUrl} leads to Annal.`)
      else yield warning(finding, 'Check whether PUBLIC_URL and its proxy lead to this installation.')
    } catch (error) {
      const { cause, message } = error as Error
      const finding = `Cannot reach ${publicUrl} from here: ${messageOf(cause ?? message)}.`
      const fix = 'Check the proxy, the certificate and the host name, also from outside: links in mails use this URL.'
      yield warning(finding, fix)
    }
  },
} satisfies Checks
