/** All environment variables, with their schemas and descriptions. */
import { z } from 'zod'
import { parseDatabaseUrl } from '../db/database-types.ts'
import { limitsText, limitsWith } from '../shared/limits.ts'
import { AMOUNT } from '../shared/money.ts'
import { roles } from '../shared/process.ts'

const matching = (pattern: RegExp, error: string) => z.string().regex(pattern, error)
const decimal = matching(AMOUNT, 'Expected a decimal number such as 0.1.')
const flag = z.stringbool('Expected true or false.')
const whole = (min: number, max: number) =>
  z
    .string()
    .transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : Number.NaN))
    .refine((value) => value >= min && value <= max, `Expected a whole number from ${min} to ${max}.`)
const port = whole(0, 65_535)
const count = whole(1, 999_999_999)
const share = matching(/^(0(\.\d{1,18})?|1(\.0{1,18})?)$/, 'Expected a share from 0 to 1, such as 0.12.')
const address = matching(/^0x[0-9a-fA-F]{40}$/, 'Expected an address.')
const list = <Item extends z.ZodType<unknown, string>>(item: Item) =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
    .pipe(z.array(item))
const nodeUrl = z.url({ protocol: /^(https?|ipc)$/, error: 'Expected an http:, https: or ipc: URL.' })
const webUrl = z.url({ protocol: /^https?$/, error: 'Expected an http:// or https:// URL.' })
/** Returns whether a path can be appended to a URL. True for an invalid URL, which has its own error. */
const isBare = (text: string) => {
  const url = URL.parse(text)
  return !url || (url.username + url.search + url.hash === '' && !/[?#]$/.test(text))
}
/** Order of the curve secp256k1. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const isPrivateKey = (digits: string) => BigInt(`0x${digits}`) > 0n && BigInt(`0x${digits}`) < CURVE_ORDER
const privateKey = matching(/^(0x)?[0-9a-f]{64}$/i, 'Expected 64 hex digits.')
  .transform((key) => key.toLowerCase().replace(/^0x/, ''))
  .refine(isPrivateKey, 'Expected a private key of secp256k1, which is above 0 and below its order.')
  .transform((digits) => `0x${digits}`)
const isUnique = (keys: string[]) => new Set(keys).size === keys.length
const relayKeys = list(privateKey).refine(isUnique, 'The list contains a key twice.')
const mailbox = /^(?:[^<>@]*<([^<>@\s]+@([^<>@\s]+))>|([^<>@\s]+@([^<>@\s]+)))$/
/** Returns the host of a sender such as `Annal <no-reply@example.org>`, or undefined if it is invalid. */
export const hostOf = (sender: string) => {
  const match = mailbox.exec(sender.trim())
  return match?.[2] ?? match?.[4]
}
const sender = z.string().refine(hostOf, 'Expected an address such as Annal <no-reply@example.org>.')
const someRoles = `Expected some of ${roles.join(', ')}, separated by commas.`
const roleList = list(z.enum(roles, someRoles)).refine((names) => names.length > 0, someRoles)

function isDatabaseUrl(url: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(url)) return false
  try {
    const { hostname, searchParams } = parseDatabaseUrl(url)
    return !`${hostname}${searchParams.get('host') ?? ''}`.includes(',') && !searchParams.has('target_session_attrs')
  } catch {
    return false
  }
}

/** A connection URL of PostgreSQL with one host. The message never contains the URL, which holds a password. */
const databaseUrl = z
  .string()
  .refine(
    isDatabaseUrl,
    'Expected postgresql://user:password@host:5432/name with one host. In a password, write / ? # @ : and , as %2F %3F %23 %40 %3A and %2C.',
  )
const limitOverrides = z.string().superRefine((text, context) => {
  try {
    limitsWith(text)
  } catch (error) {
    context.addIssue((error as Error).message)
  }
})
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'Expected addresses and CIDRs.')

const secret = <T extends z.ZodType>(schema: T) => schema.meta({ isSecret: true })

/** Schemas of the variables. Each variable also needs a description in `docs`. */
export const variables = {
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  PORT: port.prefault('4000'),
  HOST: z.string().default('localhost'),
  HEALTH_PORT: port.optional(),
  ROLES: roleList.prefault(roles.join(',')),
  METRICS_TOKEN: secret(matching(/^[\x21-\x7e]{16,}$/, 'Expected at least 16 characters, without spaces.').optional()),
  SHUTDOWN_DELAY_SECONDS: whole(0, 60).prefault('0'),
  PUBLIC_URL: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
  ANNAL_DIR: z.string().default('.annal'),
  ANNAL_EMBEDDED: flag.default(false),
  DATABASE_URL: secret(databaseUrl.optional()),
  DATABASE_DIRECT_URL: secret(databaseUrl.optional()),
  DATABASE_POOL: count.prefault('10'),
  ANNAL_EMBEDDED_DEPOSITS: flag.default(false),
  CHAIN_RPC_URL: secret(nodeUrl.optional()),
  CHAIN_ID: whole(1, Number.MAX_SAFE_INTEGER).optional(),
  CHAIN_REGISTRY_ADDRESS: address.optional(),
  CHAIN_DEPLOY_REGISTRY: flag.default(false),
  CHAIN_REGISTRY_BLOCK: whole(0, 2_147_483_647).optional(),
  CHAIN_RELAY_KEYS: secret(relayKeys.optional()),
  CHAIN_EARLIER_RELAYS: list(address).prefault(''),
  CHAIN_TREASURY_KEY: secret(privateKey.optional()),
  WITHDRAWALS_PER_DAY: decimal.prefault('10000'),
  WITHDRAWAL_COOLING_HOURS: whole(0, 8_760).prefault('24'),
  WITHDRAWAL_HOLD_SECONDS: whole(0, 604_800).prefault('300'),
  CHAIN_CONFIRMATIONS: count.prefault('2'),
  CHAIN_DEPOSIT_CONFIRMATIONS: z
    .union([z.literal('finalized'), count], { error: 'Expected a whole number above 0, or finalized.' })
    .prefault('12'),
  CHAIN_TOKEN_ADDRESS: address.optional(),
  CHAIN_MAX_FEE_GWEI: count.prefault('500'),
  CHAIN_EXPLORER_URL: webUrl.optional(),
  PROVIDER: z.string().default('Annal'),
  IPFS_API_URL: webUrl.optional(),
  S3_BUCKET: matching(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'Expected the name of a bucket.').optional(),
  S3_PREFIX: matching(/^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*\/?$/, 'Expected a path such as annal/blocks.')
    .transform((text) => (text.endsWith('/') ? text : `${text}/`))
    .optional(),
  S3_ENDPOINT: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
  KEY_ENCRYPTION_KEY: secret(matching(/^[0-9a-fA-F]{64}$/, 'Expected 64 hex digits.').optional()),
  KEY_ENCRYPTION_KEY_PREVIOUS: secret(list(matching(/^[0-9a-fA-F]{64}$/, 'Expected 64 hex digits.')).prefault('')),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
  OTEL_TRACES_SAMPLER_ARG: share.transform(Number).prefault('1'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ASSET_UPDATE_FEE: decimal.default('0.1'),
  GAS_FEE: z.union([z.literal('auto'), decimal]).default('0.079'),
  SIGN_UP_POINTS: decimal.default('12'),
  ACCESS_TOKEN_DAYS: whole(0, 36_500).prefault('0'),
  REQUIRE_API_KEY_FOR_SIGN_UP: flag.default(false),
  EMAIL_VERIFICATION: z.enum(['off', 'on', 'required']).default('off'),
  PLATFORM_SHARE: share.default('0.12'),
  ALLOW_INSECURE_WEBHOOKS: flag.default(false),
  SMTP_URL: secret(matching(/^smtps?:\/\//, 'Expected an smtp:// or smtps:// URL.').optional()),
  MAIL_FROM: sender.optional(),
  LIMITS: limitOverrides.default(''),
  TRUSTED_PROXIES: list(network).prefault(''),
  GRAPHQL_INTROSPECTION: flag.optional(),
  GRAPHQL_TRUSTED_DOCUMENTS: z.string().optional(),
  GRAPHQL_TRUSTED_ONLY: flag.default(false),
  C2PA_CERTIFICATES: z.string().optional(),
  C2PA_PRIVATE_KEY: secret(z.string().optional()),
  C2PA_TRUST_LIST: z.string().optional(),
  C2PA_TIMESTAMP_URL: webUrl.optional(),
} satisfies Record<string, z.ZodType>

export type Name = keyof typeof variables
export type Values = { [N in Name]: z.output<(typeof variables)[N]> }

/** Descriptions of the variables, for `annal config` and docs/reference/configuration.md. */
export const docs: Readonly<Record<Name, string>> = {
  NODE_ENV: '`development`, `production` or `test`. `production` rejects embedded parts and settings for development.',
  PORT: 'Port to listen on.',
  HOST: 'Address to listen on. `localhost` listens on both loopback addresses, 127.0.0.1 and ::1.',
  HEALTH_PORT:
    'Second port, for `/healthz`, `/readyz` and `/metrics`, so that probes do not queue behind requests. With it, PORT opens when the service is ready. Without it, PORT opens immediately and returns 503 until then. `/metrics` needs no token here unless METRICS_TOKEN is set. Do not expose this port.',
  ROLES:
    'Roles of this process, separated by commas. `http` serves requests, `relay` works with the chain, `deliveries` sends webhooks and mails, `jobs` runs all other background work. Without `http`, the process serves only probes and metrics.',
  METRICS_TOKEN: 'Bearer token for `/metrics` at every port. Without it, only HEALTH_PORT serves `/metrics`.',
  SHUTDOWN_DELAY_SECONDS:
    'Seconds for which a stopping process still accepts requests while `/readyz` returns 503. Set it to the time that the load balancer needs to notice. Finishing open requests takes up to 15 seconds more.',
  PUBLIC_URL:
    'Base URL of links and of commits on the chain. Required in production. It may contain a path, which the proxy must remove. The admin pages and /lookup need a URL without a path. Default: http://localhost:PORT.',
  ANNAL_DIR: 'Folder of the embedded parts and their data.',
  ANNAL_EMBEDDED: 'Allows embedded parts in production.',
  DATABASE_URL: 'URL of PostgreSQL 18 or later: `postgresql://user:password@host:5432/name`. Default: embedded.',
  DATABASE_DIRECT_URL: 'URL of the same database without the pooler. Needed for PgBouncer in transaction mode.',
  DATABASE_POOL: 'Maximum number of connections of one process for requests. A process opens up to eight more.',
  ANNAL_EMBEDDED_DEPOSITS: 'For testing: credits deposits on the embedded chain, where operators can create coins.',
  CHAIN_RPC_URL:
    'JSON-RPC endpoint of an EVM chain: http(s)://… or ipc:///path/of/the/socket. Default: embedded anvil.',
  CHAIN_ID: 'Expected ID of the chain at CHAIN_RPC_URL. Annal signs nothing for another chain.',
  CHAIN_REGISTRY_ADDRESS: 'Address of the ERC-7053 registry. Default: the contract that this installation deployed.',
  CHAIN_DEPLOY_REGISTRY:
    'Deploys a registry contract at the first start. The first account of CHAIN_RELAY_KEYS pays for about 450,000 gas. Without it and without CHAIN_REGISTRY_ADDRESS, the first start fails. The embedded chain always gets a registry.',
  CHAIN_REGISTRY_BLOCK: 'Block in which the registry was deployed. Default: found if the node keeps old state, else 0.',
  CHAIN_RELAY_KEYS: 'Private keys of the relay accounts, 64 hex digits each, separated by commas.',
  CHAIN_EARLIER_RELAYS:
    'Addresses of previous relay accounts, separated by commas. Their commits count as those of this installation. Needed only if the database does not contain these accounts.',
  CHAIN_TREASURY_KEY:
    'Private key of the treasury, the account that collects deposits: 64 hex digits, not one of CHAIN_RELAY_KEYS. Default: derived from a key in ANNAL_DIR/keys.',
  WITHDRAWALS_PER_DAY: 'Maximum currency units that an account can withdraw in 24 hours. 0 disables withdrawals.',
  WITHDRAWAL_COOLING_HOURS: 'Hours without withdrawals after a change of the password or e-mail address of an account.',
  WITHDRAWAL_HOLD_SECONDS: 'Seconds before a withdrawal is signed. It can be cancelled until then.',
  CHAIN_CONFIRMATIONS: 'Confirmations until a commit is final.',
  CHAIN_DEPOSIT_CONFIRMATIONS: 'Confirmations until a deposit is credited, or `finalized`: the finality of the chain.',
  CHAIN_TOKEN_ADDRESS:
    'Address of an ERC-20 token whose deposits are credited in addition to coins: 1 token is 1 currency unit. The token must take no fee, and change balances only by transfers.',
  CHAIN_MAX_FEE_GWEI: 'Maximum fee of the relay, in gwei per unit of gas. Commits wait while the base fee is higher.',
  CHAIN_EXPLORER_URL: 'Base URL of a block explorer. Transactions link to <url>/tx/<hash>.',
  PROVIDER: 'Name of the provider in commits on the chain.',
  IPFS_API_URL:
    'URL of the Kubo RPC API. The node must serve only this installation (docs/how-to/store-files-on-kubo-or-s3.md). Default: blocks on disk, or in S3_BUCKET.',
  S3_BUCKET:
    'Bucket of an S3-compatible store for the blocks of files. It must exist. The usual AWS variables, files and roles provide the credentials. AWS_REGION is the region (default us-east-1).',
  S3_PREFIX: 'Folder in the bucket. Garbage collection deletes all other blocks in it. Default: the whole bucket.',
  S3_ENDPOINT: 'URL of the S3-compatible store, such as https://s3.example.org. Default: AWS.',
  KEY_ENCRYPTION_KEY:
    'Key that wraps the custodial keys, together with ANNAL_DIR/keys/counterparts. 64 hex digits, from `openssl rand -hex 32`. Default: created at the first start in ANNAL_DIR/keys.',
  KEY_ENCRYPTION_KEY_PREVIOUS:
    'Previous keys of 64 hex digits, newest first, separated by commas. They can still decrypt until `annal keys rotate` has rewrapped everything.',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Base URL of an OTLP collector for traces, such as http://localhost:4318. Default: none.',
  OTEL_TRACES_SAMPLER_ARG: 'Share of the traces that are kept, from 0 to 1. A trace of a caller has precedence.',
  LOG_LEVEL: 'Minimum level of log lines.',
  ASSET_UPDATE_FEE: 'Price of creating or updating an asset, in currency units.',
  GAS_FEE:
    'Gas fee of a commit, in currency units. `auto` charges the gas of recent commits at the current gas price (one coin is one unit), between 0.001 and 1.',
  SIGN_UP_POINTS: 'Points of a new account.',
  ACCESS_TOKEN_DAYS: 'Lifetime of a new access token, in days. 0: unlimited.',
  REQUIRE_API_KEY_FOR_SIGN_UP: 'Requires an API key for sign-up.',
  EMAIL_VERIFICATION:
    '`on` sends a verification mail at sign-up; an address belongs to the account after its verification. `required` also rejects sign-ins until then.',
  PLATFORM_SHARE: 'Share of a sale that the platform keeps. The owner of the network app gets the rest.',
  ALLOW_INSECURE_WEBHOOKS: 'For development: allows webhooks over http and to internal addresses.',
  SMTP_URL:
    'SMTP server for outgoing mail: `smtps://user:password@host:465`, or `smtp://user:password@host:587?requireTLS=true`. Without `requireTLS`, mails and the password are sent unencrypted if the server offers no TLS. Default: files in ANNAL_DIR/mail.',
  MAIL_FROM: 'Sender of mails. Required in production. Default: Annal <no-reply@localhost>.',
  LIMITS: `Limits that differ from the default, as \`name=maximum\` separated by commas, such as \`requests-per-user=20000,upload=5000\`. The limits and their defaults: ${limitsText}.`,
  TRUSTED_PROXIES: 'Addresses and CIDRs of proxies whose X-Forwarded-For is used, separated by commas. Default: none.',
  GRAPHQL_INTROSPECTION:
    'Serves the GraphQL schema by introspection and at /schema.graphql, and the playground at /graphql. Default: false in production, true otherwise. GRAPHQL_TRUSTED_ONLY disables the playground.',
  GRAPHQL_TRUSTED_DOCUMENTS:
    'Manifest of GraphQL documents that clients can send by ID, or a folder of manifests (*.json), in the formats of graphql-codegen, Relay and Apollo.',
  GRAPHQL_TRUSTED_ONLY: 'Rejects GraphQL documents that are not in GRAPHQL_TRUSTED_DOCUMENTS.',
  C2PA_CERTIFICATES:
    'PEM file with the certificates that sign Content Credentials: the certificate of the signer first, then its issuers. Default: an untrusted development chain; off in production without ANNAL_EMBEDDED.',
  C2PA_PRIVATE_KEY: 'Private key of the first certificate, in PEM (PKCS#8): P-256, P-384, P-521, Ed25519 or RSA.',
  C2PA_TRUST_LIST: 'PEM file with trusted roots for signers of registered files. Default: signers are not verified.',
  C2PA_TIMESTAMP_URL: 'Time-stamping authority (RFC 3161) for Content Credentials. Default: no time stamps.',
}

/** Variables with a secret. `<NAME>_FILE` may name a file that contains the value. */
export const secretNames: ReadonlySet<string> = new Set(
  Object.entries(variables).flatMap(([name, schema]) => (schema.meta()?.isSecret ? [name] : [])),
)
