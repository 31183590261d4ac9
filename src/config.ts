/** The only reader of the environment. All problems are told at once; an empty variable counts as unset. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { contradictionsIn } from './config/contradictions.ts'
import { type Name, type Values, variables } from './config/variables.ts'
import { limitsWith } from './shared/limits.ts'
import type { Role } from './shared/process.ts'

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

/** Days that data is kept. */
const retention = { eventDays: 90, idempotencyKeyDays: 7, sessionIdleDays: 365 }

/** Seconds that unused blocks stay in the file store. */
const GARBAGE_GRACE_SECONDS = 3_600

/** Returns how traces are created, or undefined if they are off. */
function tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_TRACES_SAMPLER_ARG: share }: Values) {
  if (base === undefined) return undefined
  return { url: `${base.replace(/\/+$/, '')}/v1/traces`, share, exportEvery: 5_000 }
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
    },
    chain: {
      rpcUrl: values.CHAIN_RPC_URL,
      id: values.CHAIN_ID,
      registryAddress: values.CHAIN_REGISTRY_ADDRESS,
      mayDeployRegistry: values.CHAIN_DEPLOY_REGISTRY,
      registryBlock: values.CHAIN_REGISTRY_BLOCK,
      relayKeys: values.CHAIN_RELAY_KEYS,
      earlierRelays: values.CHAIN_EARLIER_RELAYS,
      treasuryKey: values.CHAIN_TREASURY_KEY,
      confirmations: values.CHAIN_CONFIRMATIONS,
      commitsPerTransaction: 64,
      /** Wei. */
      maxFeePerGas: BigInt(values.CHAIN_MAX_FEE_GWEI) * 1_000_000_000n,
      explorerUrl: values.CHAIN_EXPLORER_URL?.replace(/\/+$/, ''),
      provider: values.PROVIDER,
      depositConfirmations: values.CHAIN_DEPOSIT_CONFIRMATIONS,
      tokenAddress: values.CHAIN_TOKEN_ADDRESS,
      embeddedDeposits: values.ANNAL_EMBEDDED_DEPOSITS,
    },
    files: {
      kuboUrl: values.IPFS_API_URL,
      s3: values.S3_BUCKET && {
        bucket: values.S3_BUCKET,
        prefix: values.S3_PREFIX ?? '',
        region: env.AWS_REGION || 'us-east-1',
        endpoint: values.S3_ENDPOINT,
        isPathStyle: values.S3_ENDPOINT !== undefined,
      },
      garbageGraceSeconds: GARBAGE_GRACE_SECONDS,
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
      gasFeeBounds: values.GAS_FEE === 'auto' ? { least: '0.001', most: '1' } : undefined,
      currency: 'NUM',
      signUpPoints: values.SIGN_UP_POINTS,
    },
    store: {
      orderWindowSeconds: 900,
      orderArgumentsDays: 30,
      platformShare: values.PLATFORM_SHARE,
      allowInsecureWebhooks: values.ALLOW_INSECURE_WEBHOOKS && !production,
    },
    retention,
    withdrawals: {
      withdrawalsPerDay: values.WITHDRAWALS_PER_DAY,
      withdrawalCoolingSeconds: values.WITHDRAWAL_COOLING_HOURS * 3_600,
      withdrawalHoldSeconds: values.WITHDRAWAL_HOLD_SECONDS,
    },
    mail: { smtpUrl: values.SMTP_URL, from: values.MAIL_FROM ?? 'Annal <no-reply@localhost>' },
    limits: limitsWith(values.LIMITS),
    trustedProxies: values.TRUSTED_PROXIES,
    graphql: {
      introspection: values.GRAPHQL_INTROSPECTION ?? !production,
      playground: (values.GRAPHQL_INTROSPECTION ?? !production) && !values.GRAPHQL_TRUSTED_ONLY,
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

/** Names and values of the secret variables that are set in the environment instead of in a file. */
export const plainSecrets = (env: NodeJS.ProcessEnv = environment()): { name: string; value: string }[] =>
  Object.entries(variables).flatMap(([name, variable]) => {
    const value = env[name]
    return 'secret' in variable && value ? [{ name, value }] : []
  })

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

/** Returns a sentence for each variable that is set without effect although its name looks like one of Annal's. */
export function findUnread(env: NodeJS.ProcessEnv = environment()): string[] {
  const prefixes = ownPrefixes()
  const secrets = describeConfig().flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : []))
  const known = new Set([...Object.keys(variables), ...secrets, ...ofTools])
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.has(name) || isOfKubernetes(name)) return []
    if (name === 'WEB_CONCURRENCY')
      return env[name] === '1'
        ? []
        : [
            'WEB_CONCURRENCY is not supported: Annal is one process. Start several processes behind a load balancer instead (docs/scaling.md).',
          ]
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
