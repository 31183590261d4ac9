/** All environment variables. */
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

/** Variables by name. `secret`: `<NAME>_FILE` may name a file that contains the value. */
export const variables = {
  NODE_ENV: {
    schema: z.enum(['development', 'production', 'test']).default('development'),
    doc: '`development`, `production` or `test`. `production` rejects embedded parts and settings for development.',
  },
  PORT: { schema: port.prefault('4000'), doc: 'Port to listen on.' },
  HOST: {
    schema: z.string().default('localhost'),
    doc: 'Address to listen on. `localhost` listens on both loopback addresses, 127.0.0.1 and ::1.',
  },
  HEALTH_PORT: {
    schema: port.optional(),
    doc: 'Second port, for `/healthz`, `/readyz` and `/metrics`, so that probes do not queue behind requests. With it, PORT opens when the service is ready. Without it, PORT opens immediately and returns 503 until then. `/metrics` needs no token here unless METRICS_TOKEN is set. Do not expose this port.',
  },
  ROLES: {
    schema: roleList.prefault(roles.join(',')),
    doc: 'Roles of this process, separated by commas. `http` serves requests, `relay` works with the chain, `deliveries` sends webhooks and mails, `jobs` runs all other background work. Without `http`, the process serves only probes and metrics.',
  },
  METRICS_TOKEN: {
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{16,}$/, 'Expected at least 16 characters, without spaces.')
      .optional(),
    doc: 'Bearer token for `/metrics` at every port, at least 16 characters. Without it, `/metrics` is served only at HEALTH_PORT.',
    secret: true,
  },
  SHUTDOWN_DELAY_SECONDS: {
    schema: whole(0, 60).prefault('0'),
    doc: 'Seconds for which a stopping process still accepts requests while `/readyz` returns 503. Set it to the time that the load balancer needs to notice. Finishing open requests takes up to 15 seconds more.',
  },
  PUBLIC_URL: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'Base URL of links and of commits on the chain. Required in production. It may contain a path, which the proxy must remove. The admin pages and /lookup need a URL without a path. Default: http://localhost:PORT.',
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
    doc: 'Connection URL of the same database without the pooler. Required if DATABASE_URL leads through PgBouncer in transaction mode.',
    secret: true,
  },
  DATABASE_POOL: {
    schema: count.prefault('10'),
    doc: 'Maximum number of connections of one process for requests. A process opens up to eight more.',
  },
  ANNAL_EMBEDDED_DEPOSITS: {
    schema: flag.default(false),
    doc: 'Credits deposits on the embedded chain, where the operator can create any amount of coins. For testing.',
  },
  CHAIN_RPC_URL: {
    schema: z.url({ protocol: /^(https?|ipc)$/, error: 'Expected an http:, https: or ipc: URL.' }).optional(),
    doc: 'JSON-RPC endpoint of an EVM chain: http(s)://…, or ipc:///path/of/the/socket. Default: embedded anvil.',
    secret: true,
  },
  CHAIN_ID: {
    schema: chainId.optional(),
    doc: 'Expected ID of the chain at CHAIN_RPC_URL. Annal signs nothing for another chain.',
  },
  CHAIN_REGISTRY_ADDRESS: {
    schema: address.optional(),
    doc: 'Address of the ERC-7053 registry contract. Default: the contract that this installation deployed.',
  },
  CHAIN_DEPLOY_REGISTRY: {
    schema: flag.default(false),
    doc: 'Deploys a registry contract at the first start. The first account of CHAIN_RELAY_KEYS pays for about 450,000 gas. Without it and without CHAIN_REGISTRY_ADDRESS, the first start fails. The embedded chain always gets a registry.',
  },
  CHAIN_REGISTRY_BLOCK: {
    schema: whole(0, 2_147_483_647).optional(),
    doc: 'Block in which the registry was deployed. Default: found automatically if the node keeps old state, else block 0.',
  },
  CHAIN_RELAY_KEYS: {
    schema: relayKeys.optional(),
    doc: 'Private keys of the relay accounts, 64 hex digits each, separated by commas.',
    secret: true,
  },
  CHAIN_EARLIER_RELAYS: {
    schema: addresses.prefault(''),
    doc: 'Addresses of previous relay accounts, separated by commas. Their commits count as those of this installation. Needed only if the database does not contain these accounts.',
  },
  CHAIN_TREASURY_KEY: {
    schema: relayKeys
      .refine((keys) => keys.length === 1, 'Expected one key.')
      .transform(([key]) => key)
      .optional(),
    doc: 'Private key of the treasury, the account that collects deposits: 64 hex digits, not one of CHAIN_RELAY_KEYS. Default: derived from a key in ANNAL_DIR/keys.',
    secret: true,
  },
  WITHDRAWALS_PER_DAY: {
    schema: decimal.prefault('10000'),
    doc: 'Maximum amount that one account can withdraw in 24 hours, in currency units. 0 disables withdrawals.',
  },
  WITHDRAWAL_COOLING_HOURS: {
    schema: whole(0, 8_760).prefault('24'),
    doc: 'Hours without withdrawals after a change of the password or e-mail address of an account.',
  },
  WITHDRAWAL_HOLD_SECONDS: {
    schema: whole(0, 604_800).prefault('300'),
    doc: 'Seconds before a withdrawal is signed. It can be cancelled until then.',
  },
  CHAIN_CONFIRMATIONS: { schema: count.prefault('2'), doc: 'Confirmations until a commit is final.' },
  CHAIN_DEPOSIT_CONFIRMATIONS: {
    schema: z
      .union([z.literal('finalized'), count], { error: 'Expected a whole number above 0, or finalized.' })
      .prefault('12'),
    doc: 'Confirmations until a deposit is credited, or `finalized`: the finality of the chain itself, which not every chain has.',
  },
  CHAIN_TOKEN_ADDRESS: {
    schema: address.optional(),
    doc: 'Address of an ERC-20 token whose deposits are credited in addition to coins: 1 token is 1 currency unit. The token must take no fee, and change balances only by transfers.',
  },
  CHAIN_MAX_FEE_GWEI: {
    schema: count.prefault('500'),
    doc: 'Maximum fee that the relay offers, in gwei per unit of gas. Commits wait while the base fee is higher.',
  },
  CHAIN_EXPLORER_URL: {
    schema: webUrl.optional(),
    doc: 'Base URL of a block explorer. Transactions link to <url>/tx/<hash>.',
  },
  PROVIDER: { schema: z.string().default('Annal'), doc: 'Name of the provider in commits on the chain.' },
  IPFS_API_URL: {
    schema: webUrl.optional(),
    doc: 'URL of the Kubo RPC API. The node must serve only this installation (docs/how-to/store-files-on-kubo-or-s3.md). Default: blocks on disk, or in S3_BUCKET.',
  },
  S3_BUCKET: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'Expected the name of a bucket.')
      .optional(),
    doc: 'Bucket of an S3-compatible store for the blocks of files. It must exist. The usual AWS variables, files and roles provide the credentials. AWS_REGION is the region (default us-east-1).',
  },
  S3_PREFIX: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*\/?$/, 'Expected a path such as annal/blocks.')
      .transform((text) => (text.endsWith('/') ? text : `${text}/`))
      .optional(),
    doc: 'Folder in the bucket, such as annal/blocks. Garbage collection deletes all other blocks in it. Default: the whole bucket.',
  },
  S3_ENDPOINT: {
    schema: webUrl.refine(isBare, 'Expected no more than an origin and a path.').optional(),
    doc: 'URL of the S3-compatible store, such as https://s3.example.org. Default: AWS.',
  },
  KEY_ENCRYPTION_KEY: {
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'Expected 64 hex digits.')
      .optional(),
    doc: 'Key that wraps the custodial keys, together with ANNAL_DIR/keys/counterparts. 64 hex digits, from `openssl rand -hex 32`. Default: created at the first start in ANNAL_DIR/keys.',
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
    doc: 'Previous keys of 64 hex digits, newest first, separated by commas. They can still decrypt until `annal keys rotate` has rewrapped everything.',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: webUrl.optional(),
    doc: 'Base URL of an OTLP collector that receives traces as JSON over HTTP, such as http://localhost:4318. Without it, no traces are created.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: share.prefault('1'),
    doc: 'Share of the traces that are kept, from 0 to 1. The trace context of a caller has precedence.',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    doc: 'Minimum level of log lines.',
  },
  ASSET_UPDATE_FEE: {
    schema: decimal.default('0.1'),
    doc: 'Price of creating or updating an asset, in currency units.',
  },
  GAS_FEE: {
    schema: z.union([z.literal('auto'), decimal]).default('0.079'),
    doc: 'Gas fee of a commit, in currency units. `auto` charges the gas of recent commits at the current gas price (one coin is one unit), between 0.001 and 1.',
  },
  SIGN_UP_POINTS: { schema: decimal.default('12'), doc: 'Points of a new account.' },
  ACCESS_TOKEN_DAYS: {
    schema: whole(0, 36_500).prefault('0'),
    doc: 'Lifetime of a new access token, in days. 0: unlimited.',
  },
  REQUIRE_API_KEY_FOR_SIGN_UP: { schema: flag.default(false), doc: 'Requires an API key for sign-up.' },
  EMAIL_VERIFICATION: {
    schema: z.enum(['off', 'on', 'required']).default('off'),
    doc: '`on` sends a verification mail at sign-up; an address belongs to the account after its verification. `required` also rejects sign-ins until then.',
  },
  PLATFORM_SHARE: {
    schema: z
      .string()
      .regex(/^(0(\.\d{1,18})?|1(\.0{1,18})?)$/, 'Expected a share from 0 to 1, such as 0.12.')
      .default('0.12'),
    doc: 'Share of a sale that the platform keeps. The owner of the network app gets the rest.',
  },
  ALLOW_INSECURE_WEBHOOKS: {
    schema: flag.default(false),
    doc: 'Allows webhooks over http and to internal addresses. For development. Has no effect in production.',
  },
  SMTP_URL: {
    schema: z
      .string()
      .regex(/^smtps?:\/\//, 'Expected an smtp:// or smtps:// URL.')
      .optional(),
    doc: 'SMTP server for outgoing mail: `smtps://user:password@host:465`, or `smtp://user:password@host:587?requireTLS=true`. Without `requireTLS`, mails and the password are sent unencrypted if the server offers no TLS. Default: files in ANNAL_DIR/mail.',
    secret: true,
  },
  MAIL_FROM: {
    schema: z
      .string()
      .refine((sender) => hostOf(sender) !== undefined, 'Expected an address such as Annal <no-reply@example.org>.')
      .optional(),
    doc: 'Sender of mails. Required in production. Default: Annal <no-reply@localhost>.',
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
    doc: 'Addresses and CIDRs of proxies whose X-Forwarded-For is used, separated by commas. Default: none.',
  },
  GRAPHQL_INTROSPECTION: {
    schema: flag.optional(),
    doc: 'Serves the GraphQL schema by introspection and at /schema.graphql, and the playground at /graphql. Default: false in production, true otherwise. GRAPHQL_TRUSTED_ONLY disables the playground.',
  },
  GRAPHQL_TRUSTED_DOCUMENTS: {
    schema: z.string().optional(),
    doc: 'Manifest of GraphQL documents that clients can send by ID, or a folder of manifests (*.json), in the formats of graphql-codegen, Relay and Apollo.',
  },
  GRAPHQL_TRUSTED_ONLY: {
    schema: flag.default(false),
    doc: 'Rejects GraphQL documents that are not in GRAPHQL_TRUSTED_DOCUMENTS.',
  },
  C2PA_CERTIFICATES: {
    schema: z.string().optional(),
    doc: 'PEM file with the certificates that sign Content Credentials: the certificate of the signer first, then its issuers. Default: an untrusted development chain; off in production without ANNAL_EMBEDDED.',
  },
  C2PA_PRIVATE_KEY: {
    schema: z.string().optional(),
    doc: 'Private key of the first certificate in C2PA_CERTIFICATES, in PEM (PKCS#8): P-256, P-384, P-521, Ed25519 or RSA.',
    secret: true,
  },
  C2PA_TRUST_LIST: {
    schema: z.string().optional(),
    doc: 'PEM file with trusted root certificates for signers of registered files. Default: signers are not verified.',
  },
  C2PA_TIMESTAMP_URL: {
    schema: webUrl.optional(),
    doc: 'Time-stamping authority (RFC 3161) for signatures of Content Credentials. Default: no time stamps.',
  },
} satisfies Record<string, { schema: z.ZodType; doc: string; secret?: true }>

export type Name = keyof typeof variables
/** Parsed values of all variables. */
export type Values = { [N in Name]: z.output<(typeof variables)[N]['schema']> }
