/** The only reader of the environment. All problems are told at once; an empty variable counts as unset. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { AMOUNT, toUnits } from './domain/money.ts'
import { type Role, roles } from './domain/roles.ts'
import { readDatabaseUrl } from './platform/database/database-url.ts'

const decimal = z.string().regex(AMOUNT, 'Expected a decimal number such as 0.1.')
const flag = z.stringbool({
  truthy: ['true', '1', 'yes', 'on'],
  falsy: ['false', '0', 'no', 'off'],
  error: 'Expected true or false.',
})
const whole = (min: number, max: number) =>
  z
    .string()
    .transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN))
    .refine((value) => value >= min && value <= max, `Expected a whole number from ${min} to ${max}.`)
const port = whole(0, 65_535)
const count = whole(1, 999_999_999)
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'Expected an address.')
const addresses = z
  .string()
  .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
  .pipe(z.array(address))
const webUrl = z.url({ protocol: /^https?$/, error: 'Expected an http:// or https:// URL.' })
/** Links are made by adding a path, so nothing may follow it. */
const isBare = (text: string) => {
  const url = URL.parse(text)
  // What is no URL at all is told as that.
  if (!url) return true
  const { username, search, hash } = url
  return username === '' && search === '' && hash === '' && !/[?#]$/.test(text)
}
/** How many private keys secp256k1 has, and one. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const isPrivateKey = (digits: string) => BigInt(`0x${digits}`) > 0n && BigInt(`0x${digits}`) < CURVE_ORDER
const relayKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim().toLowerCase().replace(/^0x/, '')))
  .refine((keys) => keys.every((key) => /^[0-9a-f]{64}$/.test(key)), {
    error: 'Expected 64 hex digits, or several of them separated by commas.',
    abort: true,
  })
  .refine(
    (keys) => keys.every(isPrivateKey),
    'Expected private keys of secp256k1, which are above 0 and below its order.',
  )
  .refine((keys) => new Set(keys).size === keys.length, 'The same key stands there twice.')
  .transform((keys) => keys.map((key) => `0x${key}`))
const mailbox = /^(?:[^<>@]*<([^<>@\s]+@([^<>@\s]+))>|([^<>@\s]+@([^<>@\s]+)))$/
const hostOf = (sender: string) => {
  const match = mailbox.exec(sender.trim())
  return match?.[2] ?? match?.[4]
}
const webUrls = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .pipe(z.array(webUrl))
  .refine((urls) => new Set(urls).size === urls.length, 'Expected each URL once.')
/** An address may name several hosts, separated by commas, too. */
const databaseUrls = z
  .string()
  .transform((text) => text.split(/,\s*(?=postgres(?:ql)?:\/\/)/).map((each) => each.trim()))
  .refine(
    (urls) => urls.every((each) => /^postgres(ql)?:\/\//.test(each) && URL.canParse(each)),
    'Expected a postgresql:// URL, or several of them separated by commas.',
  )
const someRoles = `Expected some of ${roles.join(', ')}, separated by commas.`
const roleList = z
  .string()
  .transform((text) => [...new Set(text.split(',').flatMap((each) => each.trim() || []))])
  .pipe(z.array(z.enum(roles, someRoles)).min(1, someRoles))
const databaseUrl = z.string().superRefine((url, { addIssue }) => {
  try {
    readDatabaseUrl(url)
  } catch (error) {
    addIssue({ code: 'custom', message: (error as Error).message })
  }
})
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** Every variable: its rule, what it means, and whether it is a secret (then `<NAME>_FILE` may name a file that holds it). */
const variables = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']).default('development'),
    doc: 'development, production or test. `production` refuses embedded parts and development conveniences.',
  },
  PORT: { schema: port.prefault('4000'), doc: 'Port to listen on.' },
  HOST: { schema: z.string().default('127.0.0.1'), doc: 'Address to listen on.' },
  HEALTH_PORT: {
    schema: port.optional(),
    doc: 'A second port, for `/healthz` and `/readyz` of supervisors and balancers: there they do not queue behind everybody else. PORT opens once requests are answered then, so that a balancer sends elsewhere what comes before; without it PORT opens at once and says that the service is starting. Without METRICS_TOKEN `/metrics` is there for whoever asks. Keep it closed to strangers.',
  },
  ROLES: {
    schema: roleList.prefault(roles.join(',')),
    doc: 'What this process does, separated by commas: `http` answers requests, `relay` brings commits and coins onto the chain and reads it, `deliveries` sends webhooks and mails, `jobs` does all else in the background. Without `http` it answers probes and metrics alone, at HEALTH_PORT where that is set, and at PORT otherwise.',
  },
  METRICS_TOKEN: {
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, 'Expected at least 16 characters, without spaces.')
      .optional(),
    doc:
      'What Prometheus sends as `Authorization: Bearer <token>` to read `/metrics`, at every port; 16 characters or more.' +
      ' `openssl rand -hex 32` makes one. Without it, `/metrics` is at HEALTH_PORT alone.',
    secret: true,
  },
  SHUTDOWN_DELAY_SECONDS: {
    schema: whole(0, 60).prefault('0'),
    doc: 'Seconds in which a process that was told to stop still takes requests, while `/readyz` says 503: as long as a balancer takes to notice (docs/scaling.md). They come on top of the 15 seconds that stopping takes at most, or 19 with WEB_CONCURRENCY above 1.',
  },
  WEB_CONCURRENCY: {
    schema: whole(1, 64).prefault('1'),
    doc: 'How many processes answer requests on this machine. Above 1 the service is a supervisor with so many workers, one more for its other roles, and HEALTH_PORT for all of them.',
  },
  PUBLIC_URL: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'Where callers reach the service; links are made from it, and so is what commits say on the chain. Needed in production. Default: http://localhost:PORT.',
  },
  ANNAL_DIR: { schema: z.string().default('.annal'), doc: 'Folder of the embedded parts and their data.' },
  ANNAL_EMBEDDED: { schema: flag.default(false), doc: 'Allows embedded parts in production.' },
  DATABASE_URL: {
    schema: databaseUrl.optional(),
    doc:
      'PostgreSQL 18 or later: `postgresql://user:password@host:5432/name`, or several servers of which one takes writes:' +
      ' `postgresql://user:password@one:5432,two:5432/name?target_session_attrs=read-write`. Default: embedded.',
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    schema: databaseUrl.optional(),
    doc: 'The same database past a pooler that shares sessions between transactions (PgBouncer in transaction mode), where DATABASE_URL leads through one: leases, notifications, queues and migrations go there.',
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    schema: databaseUrls.optional(),
    doc: 'Read replicas of the database by streaming replication, separated by commas; each leads to one server. What may be a little behind is read there. The same for every process with `http`. Default: none.',
    secret: true,
  },
  DATABASE_REPLICA_LAG_SECONDS: {
    schema: whole(1, 60).prefault('5'),
    doc: 'A replica that is further behind than this is not read from.',
  },
  DATABASE_POOL: {
    schema: count.prefault('10'),
    doc: 'Connections of one process for requests, and as many to each replica; up to eight to the database come besides (docs/scaling.md).',
  },
  ANNAL_EMBEDDED_DEPOSITS: {
    schema: flag.default(false),
    doc: 'Credits coins that come in over the embedded chain, where whoever runs Annal makes as many as they like. For trying it out.',
  },
  CHAIN_RPC_URL: {
    schema: z.url({ protocol: /^(https?|ipc)$/, error: 'Expected an http:, https: or ipc: URL.' }).optional(),
    doc: 'JSON-RPC of an EVM chain: http(s)://…, or ipc:///path/of/its/socket. Default: embedded anvil.',
    secret: true,
  },
  CHAIN_ID: {
    schema: count.optional(),
    doc: 'The chain that CHAIN_RPC_URL must be; nothing is signed for another one.',
  },
  CHAIN_REGISTRY_ADDRESS: {
    schema: address.optional(),
    doc: 'The ERC-7053 registry. Default: deployed at first start.',
  },
  CHAIN_REGISTRY_BLOCK: {
    schema: whole(0, 999_999_999).optional(),
    doc: 'The block at which the registry was deployed, from which on its log is read. Default: found, where the node keeps old state; else the first.',
  },
  CHAIN_RELAY_KEYS: {
    schema: relayKeys.optional(),
    doc: 'Private keys of the relay accounts, 64 hex digits each, separated by commas.',
    secret: true,
  },
  CHAIN_EARLIER_RELAYS: {
    schema: addresses.prefault(''),
    doc: 'Addresses of relay accounts that are not configured any more, separated by commas: what they wrote is not told as by others. Needed only where the database does not know of them either.',
  },
  CHAIN_TREASURY_KEY: {
    schema: relayKeys
      .refine((keys) => keys.length === 1, 'Expected one key.')
      .transform(([key]) => key)
      .optional(),
    doc: 'Private key of the treasury, the account that deposits are gathered in, 64 hex digits; none of CHAIN_RELAY_KEYS. Default: made from the derivation key in ANNAL_DIR/keys.',
    secret: true,
  },
  WITHDRAWALS_PER_DAY: {
    schema: decimal.prefault('10000'),
    doc: 'Currency units that one account withdraws in 24 hours at most; 0 refuses all withdrawals.',
  },
  WITHDRAWAL_COOLING_HOURS: {
    schema: whole(0, 8_760).prefault('24'),
    doc: 'Hours without withdrawals after the password or e-mail address of an account was changed.',
  },
  WITHDRAWAL_HOLD_SECONDS: {
    schema: whole(0, 604_800).prefault('300'),
    doc: 'Seconds until a withdrawal is signed for, in which it can be cancelled.',
  },
  CHAIN_CONFIRMATIONS: { schema: count.prefault('2'), doc: 'Blocks until a commit counts as final.' },
  CHAIN_DEPOSIT_CONFIRMATIONS: {
    schema: z
      .union([z.literal('finalized'), count], { error: 'Expected a whole number above 0, or finalized.' })
      .prefault('12'),
    doc: 'Blocks on top of a deposit until it counts; or `finalized`: when the chain itself calls its block final, which not every chain does.',
  },
  CHAIN_TOKEN_ADDRESS: {
    schema: address.optional(),
    doc: 'An ERC-20 token whose deposits are credited beside the chain’s own coin: 1 token is 1 currency unit. Only one that is worth the same, takes no fee of a transfer and changes no balance by itself.',
  },
  CHAIN_MAX_FEE_GWEI: {
    schema: count.prefault('500'),
    doc: 'Most gwei that the relay offers for a unit of gas; while the base fee is above it, commits wait.',
  },
  CHAIN_COMMITS_PER_TRANSACTION: {
    schema: whole(1, 256).prefault('64'),
    doc: 'Most commits in one transaction, where the registry takes several; fewer where they would be large. 1: each in its own.',
  },
  CHAIN_EXPLORER_URL: { schema: webUrl.optional(), doc: 'Block explorer; transactions are linked as <url>/tx/<hash>.' },
  IPFS_API_URL: {
    schema: webUrls.optional(),
    doc: 'Kubo RPC, or those of several nodes, separated by commas, which all keep all files; they are read from in this order. Default: blocks on disk, or in S3_BUCKET.',
  },
  IPFS_COPIES: {
    schema: count.optional(),
    doc: 'Of several Kubo nodes so many must have taken a file before its registration is acknowledged; with fewer it is refused. Default: more than half of them.',
  },
  S3_BUCKET: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'Expected the name of a bucket.')
      .optional(),
    doc: 'Bucket of an S3-compatible storage that keeps the blocks of files. It has to be there. Credentials are had as the tools of AWS have them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_SHARED_CREDENTIALS_FILE with AWS_PROFILE, or the role of the machine or container.',
  },
  S3_PREFIX: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*\/?$/, 'Expected a path such as annal/blocks.')
      .transform((text) => (text.endsWith('/') ? text : `${text}/`))
      .optional(),
    doc: 'Folder in the bucket, such as annal/blocks. Each installation needs its own: what it does not need there is removed. Default: the bucket itself.',
  },
  S3_REGION: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'Expected a region such as eu-central-1.')
      .default('us-east-1'),
    doc: 'Region of the bucket.',
  },
  S3_ENDPOINT: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'Where the S3-compatible storage is, such as https://s3.example.org. Default: AWS.',
  },
  S3_PATH_STYLE: {
    schema: flag.optional(),
    doc: 'Whether the bucket stands in the path of addresses instead of in the name of the host. Default: only with S3_ENDPOINT.',
  },
  GARBAGE_GRACE_MINUTES: {
    schema: whole(1, 10_080).prefault('60'),
    doc: 'Minutes that blocks lie in the file store without an asset that needs them before they are removed. It is looked for them as often, and every hour at least. The clocks of all who write there must agree far better than that.',
  },
  KEY_ENCRYPTION_KEY: {
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'Expected 64 hex digits.')
      .optional(),
    doc: 'Wraps the custodial keys, together with ANNAL_DIR/keys/counterparts; 64 hex digits, as `openssl rand -hex 32` makes them. Default: made at first start in ANNAL_DIR/keys.',
    secret: true,
  },
  KEY_ENCRYPTION_KEY_PREVIOUS: {
    schema: z
      .string()
      .regex(
        /^[0-9a-fA-F]{64}(\s*,\s*[0-9a-fA-F]{64})*$/,
        'Expected 64 hex digits, or several of them separated by commas.',
      )
      .optional(),
    doc: 'Earlier keys of 64 hex digits, newest first, separated by commas: they still unwrap, until `annal keys rotate` has rewrapped everything.',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: webUrl.optional(),
    doc: 'Where traces are sent over OTLP (HTTP), such as http://localhost:4318. Default: none are made. The other variables of the standard for OTLP (headers, timeout, compression, certificates) hold, too.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: webUrl.optional(),
    doc: 'The same as the whole address, where traces have one of their own.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z.enum(['http/protobuf', 'http/json'], 'Expected http/protobuf or http/json.').default('http/protobuf'),
    doc: 'How traces are written: http/protobuf or http/json.',
  },
  OTEL_SERVICE_NAME: { schema: z.string().default('annal'), doc: 'The name of this service in traces.' },
  OTEL_TRACES_SAMPLER: {
    schema: z
      .enum([
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ])
      .default('parentbased_always_on'),
    doc: 'Which traces are kept. Those that begin with parentbased heed what callers say of their own.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'Expected a share from 0 to 1, such as 0.1.')
      .default('1')
      .transform(Number),
    doc: 'The share of traces that the samplers with traceidratio keep.',
  },
  OTEL_BSP_SCHEDULE_DELAY: { schema: count.prefault('5000'), doc: 'Milliseconds between two exports of traces.' },
  OTEL_SDK_DISABLED: { schema: flag.default(false), doc: 'Makes no traces, whatever else is set.' },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    doc: 'Least level that is logged.',
  },
  CURRENCY: { schema: z.string().default('NUM'), doc: 'Name of the currency unit.' },
  ASSET_UPDATE_FEE: {
    schema: decimal.default('0.1'),
    doc: 'Charged for creating or updating an asset, in currency units.',
  },
  GAS_FEE: {
    schema: z.union([z.literal('auto'), decimal]).default('0.079'),
    doc: 'Charged for what a commit takes on the chain, in currency units. auto: what commits took lately at what gas costs now, a coin being a unit, between GAS_FEE_MIN and GAS_FEE_MAX.',
  },
  GAS_FEE_MIN: { schema: decimal.default('0.001'), doc: 'Least that is charged with GAS_FEE=auto.' },
  GAS_FEE_MAX: { schema: decimal.default('1'), doc: 'Most that is charged with GAS_FEE=auto. At least GAS_FEE_MIN.' },
  SIGN_UP_POINTS: { schema: decimal.default('12'), doc: 'Points a new account starts with.' },
  ACCESS_TOKEN_DAYS: {
    schema: whole(0, 36_500).prefault('0'),
    doc: 'Days until a new access token ends by itself; 0 is never.',
  },
  REQUIRE_API_KEY_FOR_SIGN_UP: { schema: flag.default(false), doc: 'Sign-up only through a trusted service.' },
  ORDER_WINDOW_SECONDS: {
    schema: whole(1, 86_400).prefault('900'),
    doc: 'Seconds in which an order must be confirmed.',
  },
  ORDER_ARGUMENTS_DAYS: {
    schema: whole(1, 36_500).prefault('30'),
    doc: 'Days that action_args of a paid order are kept after it is served or given up, for its webhook to be called again.',
  },
  EVENT_DAYS: {
    schema: whole(30, 36_500).prefault('90'),
    doc: 'Days that events stay in the feeds, and webhook deliveries with their attempts after they are settled. A receiver or a program that was away for longer reads lists instead.',
  },
  IDEMPOTENCY_KEY_DAYS: {
    schema: whole(1, 30).prefault('7'),
    doc: 'Days that a request may be repeated with its idempotency key.',
  },
  SESSION_IDLE_DAYS: {
    schema: whole(0, 36_500).prefault('365'),
    doc: 'Days after which a session ends that nobody uses; 0 is never.',
  },
  PLATFORM_SHARE: {
    schema: z
      .string()
      .regex(/^(0(\.\d{1,18})?|1(\.0{1,18})?)$/, 'Expected a share from 0 to 1, such as 0.12.')
      .default('0.12'),
    doc: "Share of a sale that the platform keeps; the rest is the network app owner's.",
  },
  ALLOW_INSECURE_WEBHOOKS: {
    schema: flag.default(false),
    doc: 'Allows webhooks over http and to internal addresses. Development only; has no effect in production.',
  },
  SMTP_URL: {
    schema: z
      .string()
      .regex(/^smtps?:\/\//, 'Expected an smtp:// or smtps:// URL.')
      .optional(),
    doc: 'Server that mail goes out by. Default: files in ANNAL_DIR/mail.',
    secret: true,
  },
  MAIL_FROM: {
    schema: z
      .string()
      .refine((sender) => hostOf(sender) !== undefined, 'Expected an address such as Annal <no-reply@example.org>.')
      .optional(),
    doc: 'Sender of mails. Needed in production. Default: Annal <no-reply@localhost>.',
  },
  LIMIT_SIGN_UPS_PER_IP: { schema: count.prefault('100'), doc: 'Sign-ups an hour from one address.' },
  LIMIT_SIGN_INS_PER_IP: { schema: count.prefault('20'), doc: 'Sign-ins a minute from one address.' },
  LIMIT_UPLOADS_PER_USER: { schema: count.prefault('600'), doc: 'Files an hour that one user registers.' },
  LIMIT_OPEN_ORDERS_PER_USER: {
    schema: count.prefault('100'),
    doc: 'Orders of one user that wait to be confirmed at the same time.',
  },
  LIMIT_UNPAID_MEGABYTES_PER_USER: {
    schema: count.prefault('1000'),
    doc: 'Megabytes of files that one user has on their way in, not yet paid for, at all processes together. Requests count as a whole. What a process had that was killed is free a minute later.',
  },
  LIMIT_REQUESTS_PER_TOKEN: {
    schema: count.prefault('6000'),
    doc: 'Requests a minute with one access token, at all processes together.',
  },
  LIMIT_REQUESTS_PER_IP: {
    schema: count.prefault('6000'),
    doc: 'Requests a minute without a valid access token from one address, at all processes together.',
  },
  LIMIT_UNDER_WAY: {
    schema: count.prefault('50'),
    doc: 'Fields at the root of GraphQL, and requests of REST as one each, that one user, or one address without a valid access token, has under way at once at each process. What goes beyond waits its turn for up to 5 seconds, in a line of 200 requests that holds nobody else up. Of one process on purpose: it shares out the memory, processor and connections of that process.',
  },
  LIMIT_STREAMS_PER_USER: {
    schema: count.prefault('50'),
    doc: 'Event streams and subscriptions that one user has open at once, at all processes together.',
  },
  LIMIT_STREAMS_PER_IP: {
    schema: count.prefault('200'),
    doc: 'Event streams and subscriptions open at once from one address, at all processes together.',
  },
  TRUSTED_PROXIES: {
    schema: z
      .string()
      .default('')
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      )
      .refine((parts) => parts.every((part) => network.safeParse(part).success), 'Expected addresses and CIDRs.'),
    doc: 'Addresses and CIDRs, separated by commas, whose X-Forwarded-For is believed. Default: nobody.',
  },
  GRAPHQL_INTROSPECTION: {
    schema: flag.optional(),
    doc: 'Whether GraphQL tells its schema, also at /schema.graphql. Default: not in production.',
  },
  GRAPHQL_PLAYGROUND: {
    schema: flag.optional(),
    doc: 'Whether /graphql is a page for people. Default: not in production, nor with GRAPHQL_TRUSTED_ONLY.',
  },
  GRAPHQL_TRUSTED_DOCUMENTS: {
    schema: z.string().optional(),
    doc: 'Manifest of GraphQL documents that clients may name by their identifiers, or a folder of manifests (*.json), as graphql-codegen, Relay and Apollo write them.',
  },
  GRAPHQL_TRUSTED_ONLY: {
    schema: flag.default(false),
    doc: 'Carries out no GraphQL document but those of GRAPHQL_TRUSTED_DOCUMENTS.',
  },
  LIMIT_RESETS_PER_IP: { schema: count.prefault('20'), doc: 'Password resets an hour asked for from one address.' },
  EMAIL_VERIFICATION: {
    schema: z.enum(['off', 'on', 'required']).default('off'),
    doc: '`on` sends a verification mail at sign-up, and an address counts once it is verified; `required` also refuses sign-ins until then.',
  },
  C2PA_CERTIFICATES: {
    schema: z.string().optional(),
    doc: 'File with the certificates that Content Credentials are signed with, in PEM: the signer’s first, then who vouches for it. Default: a chain of its own in ANNAL_DIR/keys, which nobody trusts; in production none, and no Content Credentials, unless ANNAL_EMBEDDED says so.',
  },
  C2PA_PRIVATE_KEY: {
    schema: z.string().optional(),
    doc: 'The private key of the first certificate in C2PA_CERTIFICATES, in PEM (PKCS#8): P-256, P-384, P-521, Ed25519 or RSA.',
    secret: true,
  },
  C2PA_TRUST_LIST: {
    schema: z.string().optional(),
    doc: 'File with certificates in PEM that are trusted to vouch for who signed the manifest in a registered file, such as the trust list of C2PA. Default: nobody, so that signers are not judged.',
  },
  C2PA_TIMESTAMP_URL: {
    schema: webUrl.optional(),
    doc: 'Time-stamping authority (RFC 3161) that is asked for every signature of Content Credentials; while it gives none, files are signed without, and anew later. Default: no time stamps.',
  },
  PROVIDER: { schema: z.string().default('Annal'), doc: 'The name commits carry on the chain as their provider.' },
} satisfies Record<string, { schema: z.ZodType; doc: string; secret?: true }>

type Name = keyof typeof variables
type Values = { [N in Name]: z.output<(typeof variables)[N]['schema']> }

/** The configuration has problems; its message names all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Each names its variable. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration has problems:\n  ${problems.join('\n  ')}`)
    this.problems = problems
  }
}

/** The text of a variable, or of the file that is named for it. Raises an Error that says what is wrong with the file. */
function textOf(name: string, mayBeFile: boolean, env: NodeJS.ProcessEnv): string | undefined {
  const own = env[name] || undefined
  const file = mayBeFile ? env[`${name}_FILE`] : undefined
  if (!file) return own
  if (own) throw new Error(`Set either ${name} or ${name}_FILE.`)
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`The file that ${name}_FILE names cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (text === '') throw new Error(`The file that ${name}_FILE names is empty.`)
  return text
}

const refuse = (problems: string[]) => {
  if (problems.length) throw new ConfigError(problems)
}

/** Raises ConfigError that names every problem. */
function read(env: NodeJS.ProcessEnv): Values {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(variables)) {
    try {
      const parsed = variable.schema.safeParse(textOf(name, 'secret' in variable, env))
      if (parsed.success) values[name] = parsed.data
      else problems.push(`${name}: ${parsed.error.issues.map((issue) => issue.message).join(' ')}`)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
  }
  refuse(problems)
  return values as Values
}

/** What each variable allows and all together do not. */
function contradictionsIn(values: Values): string[] {
  const problems: string[] = []
  if (values.HEALTH_PORT && values.HEALTH_PORT === values.PORT && values.ROLES.includes('http')) {
    problems.push('HEALTH_PORT and PORT are the same: probes need a port of their own.')
  }
  if (values.CHAIN_RPC_URL && !values.CHAIN_RELAY_KEYS) {
    problems.push('CHAIN_RELAY_KEYS is needed with CHAIN_RPC_URL: the accounts that pay for chain transactions.')
  }
  if (values.S3_BUCKET && values.IPFS_API_URL) {
    problems.push('S3_BUCKET and IPFS_API_URL are both set: files lie in one of them.')
  }
  if (values.IPFS_COPIES && values.IPFS_COPIES > (values.IPFS_API_URL ?? []).length) {
    problems.push('IPFS_COPIES is more than IPFS_API_URL names nodes.')
  }
  if (values.S3_ENDPOINT && !values.S3_BUCKET) {
    problems.push('S3_BUCKET is needed with S3_ENDPOINT: without it, files lie on this machine.')
  }
  if (values.DATABASE_DIRECT_URL && !values.DATABASE_URL) {
    problems.push('DATABASE_URL is needed with DATABASE_DIRECT_URL: where requests reach the same database.')
  }
  if (values.GAS_FEE === 'auto' && toUnits(values.GAS_FEE_MIN) > toUnits(values.GAS_FEE_MAX)) {
    problems.push('GAS_FEE_MIN is more than GAS_FEE_MAX.')
  }
  if (values.CHAIN_TREASURY_KEY && values.CHAIN_RELAY_KEYS?.includes(values.CHAIN_TREASURY_KEY)) {
    problems.push(
      'CHAIN_TREASURY_KEY is one of CHAIN_RELAY_KEYS: gas for commits would be paid from the coins of others.',
    )
  }
  if (values.GRAPHQL_TRUSTED_ONLY && !values.GRAPHQL_TRUSTED_DOCUMENTS) {
    problems.push('GRAPHQL_TRUSTED_DOCUMENTS is needed with GRAPHQL_TRUSTED_ONLY: what is carried out at all.')
  }
  if (values.GRAPHQL_TRUSTED_ONLY && values.GRAPHQL_PLAYGROUND) {
    problems.push(
      'GRAPHQL_PLAYGROUND has no use with GRAPHQL_TRUSTED_ONLY: nothing that is typed there is carried out.',
    )
  }
  if ((values.C2PA_CERTIFICATES === undefined) !== (values.C2PA_PRIVATE_KEY === undefined)) {
    problems.push('C2PA_CERTIFICATES and C2PA_PRIVATE_KEY are needed together.')
  }
  if (values.NODE_ENV !== 'production') return problems
  const embedded = [
    !values.DATABASE_URL && 'the database (set DATABASE_URL)',
    !values.CHAIN_RPC_URL && 'the chain (set CHAIN_RPC_URL and CHAIN_RELAY_KEYS)',
    !values.IPFS_API_URL && !values.S3_BUCKET && 'the file store (set S3_BUCKET or IPFS_API_URL)',
    !values.KEY_ENCRYPTION_KEY && 'the key vault (set KEY_ENCRYPTION_KEY)',
    !values.SMTP_URL && 'mail (set SMTP_URL and MAIL_FROM)',
  ].filter((part) => part !== false)
  if (embedded.length && !values.ANNAL_EMBEDDED) {
    problems.push(
      `In production an embedded part is refused: ${embedded.join(', ')}. ANNAL_EMBEDDED=true allows embedded parts.`,
    )
  }
  if (!values.PUBLIC_URL) {
    problems.push(
      'PUBLIC_URL is needed in production: links in mails, and what commits say on the chain for good, are made from it.',
    )
  }
  const host = values.MAIL_FROM && hostOf(values.MAIL_FROM)
  if (!host?.includes('.') || /(^|\.)localhost$/i.test(host)) {
    problems.push('MAIL_FROM is needed in production: an address of your own, such as Annal <no-reply@example.org>.')
  }
  return problems
}

/** How traces are made; undefined when none are wanted. */
function tracingOf(values: Values) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = values
  const url = whole ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (url === undefined || values.OTEL_SDK_DISABLED) return undefined
  return {
    url,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    serviceName: values.OTEL_SERVICE_NAME,
    sampler: values.OTEL_TRACES_SAMPLER,
    share: values.OTEL_TRACES_SAMPLER_ARG,
    exportEvery: values.OTEL_BSP_SCHEDULE_DELAY,
  }
}

/** What is set, completed by a file `.env` where there is one. */
function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/** All that the environment says, checked and frozen. */
export type Config = ReturnType<typeof readConfig>

/**
 * The configuration, from the environment and a file `.env` when nothing else is given. `overrides`: what the command line
 * says of variables, which goes before. Raises ConfigError, which names every problem.
 */
export function readConfig(
  env: NodeJS.ProcessEnv = environment(),
  overrides: Readonly<Partial<Record<Name, string | undefined>>> = {},
) {
  const values = read({ ...env, ...overrides })
  const production = values.NODE_ENV === 'production'
  refuse(contradictionsIn(values))
  return Object.freeze({
    production,
    port: values.PORT,
    host: values.HOST,
    healthPort: values.HEALTH_PORT,
    roles: new Set<Role>(values.ROLES),
    workers: values.WEB_CONCURRENCY,
    shutdownDelayMs: values.SHUTDOWN_DELAY_SECONDS * 1_000,
    tracing: tracingOf(values),
    metrics: {
      isOn: values.METRICS_TOKEN !== undefined || values.HEALTH_PORT !== undefined,
      token: values.METRICS_TOKEN,
    },
    publicUrl: values.PUBLIC_URL?.replace(/\/+$/, ''),
    dir: resolve(values.ANNAL_DIR),
    logLevel: values.LOG_LEVEL,
    database: {
      url: values.DATABASE_URL,
      directUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
      pool: values.DATABASE_POOL,
      replicas: { urls: values.DATABASE_REPLICA_URL ?? [], maxLag: values.DATABASE_REPLICA_LAG_SECONDS },
    },
    chain: {
      rpcUrl: values.CHAIN_RPC_URL,
      id: values.CHAIN_ID,
      registryAddress: values.CHAIN_REGISTRY_ADDRESS,
      registryBlock: values.CHAIN_REGISTRY_BLOCK,
      relayKeys: values.CHAIN_RELAY_KEYS,
      earlierRelays: values.CHAIN_EARLIER_RELAYS,
      treasuryKey: values.CHAIN_TREASURY_KEY,
      confirmations: values.CHAIN_CONFIRMATIONS,
      commitsPerTransaction: values.CHAIN_COMMITS_PER_TRANSACTION,
      /** Wei. */
      maxFeePerGas: BigInt(values.CHAIN_MAX_FEE_GWEI) * 1_000_000_000n,
      explorerUrl: values.CHAIN_EXPLORER_URL?.replace(/\/+$/, ''),
      provider: values.PROVIDER,
      depositConfirmations: values.CHAIN_DEPOSIT_CONFIRMATIONS,
      tokenAddress: values.CHAIN_TOKEN_ADDRESS,
      embeddedDeposits: values.ANNAL_EMBEDDED_DEPOSITS,
    },
    files: {
      ipfs: values.IPFS_API_URL && {
        urls: values.IPFS_API_URL,
        copies: values.IPFS_COPIES ?? Math.floor(values.IPFS_API_URL.length / 2) + 1,
      },
      s3: values.S3_BUCKET && {
        bucket: values.S3_BUCKET,
        prefix: values.S3_PREFIX ?? '',
        region: values.S3_REGION,
        endpoint: values.S3_ENDPOINT,
        isPathStyle: values.S3_PATH_STYLE ?? values.S3_ENDPOINT !== undefined,
      },
      garbageGraceSeconds: values.GARBAGE_GRACE_MINUTES * 60,
    },
    contentCredentials: {
      certificates: values.C2PA_CERTIFICATES && resolve(values.C2PA_CERTIFICATES),
      key: values.C2PA_PRIVATE_KEY,
      mayBeDevelopment: !production || values.ANNAL_EMBEDDED,
      timestampUrl: values.C2PA_TIMESTAMP_URL,
      trustList: values.C2PA_TRUST_LIST && resolve(values.C2PA_TRUST_LIST),
    },
    keys: {
      key: values.KEY_ENCRYPTION_KEY,
      previousKeys: values.KEY_ENCRYPTION_KEY_PREVIOUS?.split(',').map((key) => key.trim()) ?? [],
    },
    money: {
      assetUpdateFee: values.ASSET_UPDATE_FEE,
      /** Where it follows the chain, what it begins with. */
      gasFee: values.GAS_FEE === 'auto' ? '0.079' : values.GAS_FEE,
      /** Between which it follows the chain; undefined where it does not. */
      gasFeeBounds: values.GAS_FEE === 'auto' ? { least: values.GAS_FEE_MIN, most: values.GAS_FEE_MAX } : undefined,
      currency: values.CURRENCY,
      signUpPoints: values.SIGN_UP_POINTS,
    },
    store: {
      orderWindowSeconds: values.ORDER_WINDOW_SECONDS,
      openOrdersPerUser: values.LIMIT_OPEN_ORDERS_PER_USER,
      orderArgumentsDays: values.ORDER_ARGUMENTS_DAYS,
      platformShare: values.PLATFORM_SHARE,
      allowInsecureWebhooks: values.ALLOW_INSECURE_WEBHOOKS && !production,
    },
    retention: {
      eventDays: values.EVENT_DAYS,
      idempotencyKeyDays: values.IDEMPOTENCY_KEY_DAYS,
      sessionIdleDays: values.SESSION_IDLE_DAYS,
    },
    withdrawals: {
      withdrawalsPerDay: values.WITHDRAWALS_PER_DAY,
      withdrawalCoolingSeconds: values.WITHDRAWAL_COOLING_HOURS * 3_600,
      withdrawalHoldSeconds: values.WITHDRAWAL_HOLD_SECONDS,
    },
    mail: { smtpUrl: values.SMTP_URL, from: values.MAIL_FROM ?? 'Annal <no-reply@localhost>' },
    limits: {
      signUpsPerHour: values.LIMIT_SIGN_UPS_PER_IP,
      signInsPerMinute: values.LIMIT_SIGN_INS_PER_IP,
      resetsPerHour: values.LIMIT_RESETS_PER_IP,
      uploadsPerHour: values.LIMIT_UPLOADS_PER_USER,
      unpaidMegabytes: values.LIMIT_UNPAID_MEGABYTES_PER_USER,
      requestsPerToken: values.LIMIT_REQUESTS_PER_TOKEN,
      requestsPerAddress: values.LIMIT_REQUESTS_PER_IP,
      rootFieldsUnderWay: values.LIMIT_UNDER_WAY,
      streamsPerUser: values.LIMIT_STREAMS_PER_USER,
      streamsPerAddress: values.LIMIT_STREAMS_PER_IP,
    },
    trustedProxies: values.TRUSTED_PROXIES,
    graphql: {
      introspection: values.GRAPHQL_INTROSPECTION ?? !production,
      playground: values.GRAPHQL_PLAYGROUND ?? (!production && !values.GRAPHQL_TRUSTED_ONLY),
      trustedDocuments: values.GRAPHQL_TRUSTED_DOCUMENTS && resolve(values.GRAPHQL_TRUSTED_DOCUMENTS),
      trustedOnly: values.GRAPHQL_TRUSTED_ONLY,
    },
    emailVerification: values.EMAIL_VERIFICATION,
    requireApiKeyForSignUp: values.REQUIRE_API_KEY_FOR_SIGN_UP,
    accessTokenDays: values.ACCESS_TOKEN_DAYS,
  })
}

/** The value of a variable that is not set, as one would write it; undefined when there is none. */
const defaultOf = (schema: z.ZodType): string | undefined => {
  const { data } = schema.safeParse(undefined)
  return data === undefined || String(data) === '' ? undefined : String(data)
}

/** Every variable with its meaning, in the order in which `annal config` prints them. */
export const describeConfig = () =>
  Object.entries(variables).map(([name, { doc, schema, ...rest }]) => ({
    name,
    doc,
    isSecret: 'secret' in rest,
    default: defaultOf(schema),
  }))

/** The access token that `annal import` sends to a server, `ANNAL_TOKEN`: no part of the configuration, which that server has. */
export const readAccessToken = (env: NodeJS.ProcessEnv = environment()): string | undefined => env.ANNAL_TOKEN

/** Secrets that stand in a variable of their own, though a file could hold each: their names. */
export const plainSecrets = (env: NodeJS.ProcessEnv = environment()): string[] =>
  Object.entries(variables).flatMap(([name, variable]) => ('secret' in variable && env[name] ? [name] : []))

/** Whether the secret key of AWS, which its SDK looks for, stands in a variable of its own. */
export const hasPlainAwsSecret = (env: NodeJS.ProcessEnv = environment()): boolean => Boolean(env.AWS_SECRET_ACCESS_KEY)

/** What operators set for tools of ours, and no server reads. */
const ofTools = ['ANNAL_TOKEN', 'ANNAL_URL', 'ANNAL_API_KEY']
const prefixOf = (name: string) => name.slice(0, name.indexOf('_') + 1)

/** How names of ours begin: as several do, but for those of a standard, which has more of them than we read. */
function ownPrefixes(): string[] {
  const prefixes = Object.keys(variables).map(prefixOf).sort()
  const shared = prefixes.filter((prefix, at) => prefix !== '' && prefix === prefixes[at - 1])
  return [...new Set([...shared, 'SMTP_'])].filter((prefix) => prefix !== 'OTEL_')
}

/** As Kubernetes tells every container of a service that is called as we are. */
const isOfKubernetes = (name: string) => /_(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP)\w*)?)$/.test(name)

/** What is set and does nothing, though it is called as ours are: a sentence for each. */
export function findUnread(env: NodeJS.ProcessEnv = environment()): string[] {
  const prefixes = ownPrefixes()
  const secrets = describeConfig().flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : []))
  const known = new Set([...Object.keys(variables), ...secrets, ...ofTools])
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.has(name) || isOfKubernetes(name)) return []
    const whole = name.replace(/_FILE$/, '')
    if (whole !== name && whole in variables)
      return [`${name} is not read: of ${whole} there is no file, as it is no secret.`]
    return prefixes.includes(prefixOf(name)) ? [`${name} is no variable of Annal, and does nothing.`] : []
  })
}

/** Every variable with its effective value; of a secret only that it is set. Raises ConfigError. */
export function effectiveConfig(env: NodeJS.ProcessEnv = environment()) {
  const values = read(env)
  return describeConfig().map(({ name, doc, isSecret }) => {
    const value = values[name as Name]
    return { name, value: value !== undefined && isSecret ? '(set, not shown)' : value, doc }
  })
}
