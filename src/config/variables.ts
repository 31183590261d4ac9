/** The table of all variables. */
import { z } from 'zod'
import { limitsText } from '../shared/limits.ts'
import { roles } from '../shared/process.ts'
import {
  address,
  addresses,
  chainId,
  count,
  databaseUrl,
  decimal,
  flag,
  hostOf,
  isBare,
  limitOverrides,
  network,
  port,
  relayKeys,
  roleList,
  share,
  webUrl,
  whole,
} from './rules.ts'

/** Every variable: its rule, what it means, and whether it is a secret (then `<NAME>_FILE` may name a file that holds it). */
export const variables = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']).default('development'),
    doc: 'development, production or test. `production` refuses embedded parts and development conveniences.',
  },
  PORT: { schema: port.prefault('4000'), doc: 'Port to listen on.' },
  HOST: {
    schema: z.string().default('localhost'),
    doc: 'Address to listen on. `localhost` listens on both loopback addresses, 127.0.0.1 and ::1.',
  },
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
    doc: 'Seconds in which a process that was told to stop still takes requests, while `/readyz` says 503: as long as a balancer takes to notice (docs/scaling.md). They come on top of the 15 seconds that stopping takes at most.',
  },
  PUBLIC_URL: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'Where callers reach the service; links are made from it, and so is what commits say on the chain. Needed in production. With a path, which a proxy has to take away again, GraphQL, REST, files and the pages that links lead to are there; the pages for administrators, /lookup and what / leads to need an address without one. Default: http://localhost:PORT; links in responses then use the host of the request if that is a loopback host (`localhost`, `*.localhost`, 127.0.0.0/8, ::1).',
  },
  ANNAL_DIR: { schema: z.string().default('.annal'), doc: 'Folder of the embedded parts and their data.' },
  ANNAL_EMBEDDED: { schema: flag.default(false), doc: 'Allows embedded parts in production.' },
  DATABASE_URL: {
    schema: databaseUrl.optional(),
    doc: 'Connection URL of PostgreSQL 18 or later: `postgresql://user:password@host:5432/name`. Default: embedded.',
    secret: true,
  },
  DATABASE_DIRECT_URL: {
    schema: databaseUrl.optional(),
    doc: 'Connection URL of the same database without the pooler. Required when DATABASE_URL leads through PgBouncer in transaction mode: leases, notifications, queues and migrations need sessions of their own.',
    secret: true,
  },
  DATABASE_POOL: {
    schema: count.prefault('10'),
    doc: 'Connections of one process for requests. A process opens up to eight further connections (docs/scaling.md).',
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
    schema: chainId.optional(),
    doc: 'The chain that CHAIN_RPC_URL must be; nothing is signed for another one.',
  },
  CHAIN_REGISTRY_ADDRESS: {
    schema: address.optional(),
    doc: 'Address of the ERC-7053 registry contract. Default: the one that this installation deployed.',
  },
  CHAIN_DEPLOY_REGISTRY: {
    schema: flag.default(false),
    doc: 'Deploys a registry contract at the first start on the chain of CHAIN_RPC_URL. The first account of CHAIN_RELAY_KEYS pays for about 450,000 gas. Without it and without CHAIN_REGISTRY_ADDRESS, a first start is refused. The embedded chain always gets a registry.',
  },
  CHAIN_REGISTRY_BLOCK: {
    schema: whole(0, 2_147_483_647).optional(),
    doc: 'The block at which the registry was deployed, from which on its log is read. Default: found, where the node keeps old state; else the first.',
  },
  CHAIN_RELAY_KEYS: {
    schema: relayKeys.optional(),
    doc: 'Private keys of the relay accounts, 64 hex digits each, separated by commas.',
    secret: true,
  },
  CHAIN_EARLIER_RELAYS: {
    schema: addresses.prefault(''),
    doc: 'Addresses of relay accounts that are not configured any more, separated by commas: what they wrote is not told as by others, and counts when a history is checked. Needed only where the database does not know of them either.',
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
  CHAIN_EXPLORER_URL: { schema: webUrl.optional(), doc: 'Block explorer; transactions are linked as <url>/tx/<hash>.' },
  IPFS_API_URL: {
    schema: webUrl.optional(),
    doc: 'URL of the Kubo RPC API. The node must serve nobody else, see docs/files.md. Default: blocks on disk, or in S3_BUCKET.',
  },
  S3_BUCKET: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'Expected the name of a bucket.')
      .optional(),
    doc: 'Bucket of an S3-compatible storage that keeps the blocks of files. It has to be there. Credentials are had as the tools of AWS have them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_SHARED_CREDENTIALS_FILE with AWS_PROFILE, or the role of the machine or container. AWS_REGION is its region, us-east-1 by default.',
  },
  S3_PREFIX: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*\/?$/, 'Expected a path such as annal/blocks.')
      .transform((text) => (text.endsWith('/') ? text : `${text}/`))
      .optional(),
    doc: 'Folder in the bucket, such as annal/blocks. Each installation needs its own: what it does not need there is removed. Default: the bucket itself.',
  },
  S3_ENDPOINT: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'Where the S3-compatible storage is, such as https://s3.example.org. Default: AWS.',
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
    doc: 'Base URL of an OTLP collector that receives traces as JSON over HTTP, such as http://localhost:4318. Without it, no traces are created. The OpenTelemetry variables for the service name, resource attributes, headers, timeout, compression and certificates apply too.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: share.prefault('1'),
    doc: 'Share of the traces that are kept, from 0 to 1. A caller that sends a trace context decides for its own requests.',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    doc: 'Minimum level of the log lines that are written.',
  },
  ASSET_UPDATE_FEE: {
    schema: decimal.default('0.1'),
    doc: 'Charged for creating or updating an asset, in currency units.',
  },
  GAS_FEE: {
    schema: z.union([z.literal('auto'), decimal]).default('0.079'),
    doc: 'Charged for the gas of a commit, in currency units. `auto` charges the gas of recent commits at the current gas price, with one coin as one unit, between 0.001 and 1.',
  },
  SIGN_UP_POINTS: { schema: decimal.default('12'), doc: 'Points a new account starts with.' },
  ACCESS_TOKEN_DAYS: {
    schema: whole(0, 36_500).prefault('0'),
    doc: 'Days until a new access token ends by itself; 0 is never.',
  },
  REQUIRE_API_KEY_FOR_SIGN_UP: { schema: flag.default(false), doc: 'Sign-up only through a trusted service.' },
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
    doc: 'Server that mail goes out by: `smtps://user:password@host:465`, or `smtp://user:password@host:587?requireTLS=true`. Without `requireTLS` mails and password go unencrypted where TLS is not offered. Default: files in ANNAL_DIR/mail.',
    secret: true,
  },
  MAIL_FROM: {
    schema: z
      .string()
      .refine((sender) => hostOf(sender) !== undefined, 'Expected an address such as Annal <no-reply@example.org>.')
      .optional(),
    doc: 'Sender of mails. Needed in production. Default: Annal <no-reply@localhost>.',
  },
  LIMITS: {
    schema: limitOverrides.default(''),
    doc: `Limits that differ from the default, as \`name=maximum\` separated by commas, such as \`requests-per-user=20000,upload=5000\`. The limits and their defaults: ${limitsText}.`,
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
    doc: 'Serves the GraphQL schema by introspection and at /schema.graphql, and the playground at /graphql. Default: false in production, true otherwise. GRAPHQL_TRUSTED_ONLY turns the playground off.',
  },
  GRAPHQL_TRUSTED_DOCUMENTS: {
    schema: z.string().optional(),
    doc: 'Manifest of GraphQL documents that clients may name by their identifiers, or a folder of manifests (*.json), as graphql-codegen, Relay and Apollo write them.',
  },
  GRAPHQL_TRUSTED_ONLY: {
    schema: flag.default(false),
    doc: 'Carries out no GraphQL document but those of GRAPHQL_TRUSTED_DOCUMENTS.',
  },
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

/** The name of a variable. */
export type Name = keyof typeof variables
/** What all of them hold once they are read. */
export type Values = { [N in Name]: z.output<(typeof variables)[N]['schema']> }
