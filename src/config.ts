/** Reads the configuration from the environment. All problems are reported together. Empty variables count as unset. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { docs, hostOf, type Name, secretNames, type Values, variables } from './config/variables.ts'
import { limitsWith } from './shared/limits.ts'
import { ConfigError } from './shared/operator-errors.ts'
import type { Role } from './shared/process.ts'

/** Returns the value of a variable, or the content of its file. Throws an Error that describes a problem with the value. */
function textOf(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const file = secretNames.has(name) ? env[`${name}_FILE`] : undefined
  if (!file) return env[name] || undefined
  if (env[name]) throw new Error(`Set either ${name} or ${name}_FILE.`)
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`The file in ${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (text === '') throw new Error(`The file in ${name}_FILE is empty.`)
  return text
}

/** Parses all environment variables. Throws ConfigError with all problems. */
function read(env: NodeJS.ProcessEnv): Values {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(variables)) {
    try {
      const { data, error } = schema.safeParse(textOf(name, env))
      values[name] = data
      if (error) problems.push(`${name}: ${error.issues.map(({ message }) => message).join(' ')}`)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
  }
  if (problems.length) throw new ConfigError(problems)
  return values as Values
}

/** Returns the embedded parts, with the variables that replace them. */
const embeddedPartsOf = (values: Values): string[] =>
  [
    !values.DATABASE_URL && 'the database (set DATABASE_URL)',
    !values.CHAIN_RPC_URL && 'the chain (set CHAIN_RPC_URL and CHAIN_RELAY_KEYS)',
    !values.IPFS_API_URL && !values.S3_BUCKET && 'the file store (set S3_BUCKET or IPFS_API_URL)',
    !values.KEY_ENCRYPTION_KEY && 'the key vault (set KEY_ENCRYPTION_KEY)',
    !values.SMTP_URL && 'mail (set SMTP_URL and MAIL_FROM)',
  ].filter((part) => part !== false)

function findContradictions(values: Values): string[] {
  const production = values.NODE_ENV === 'production'
  const embedded = embeddedPartsOf(values).join(', ')
  const host = values.MAIL_FROM && hostOf(values.MAIL_FROM)
  const sharesPort = values.HEALTH_PORT && values.HEALTH_PORT === values.PORT && values.ROLES.includes('http')
  const treasuryRelays = values.CHAIN_TREASURY_KEY && values.CHAIN_RELAY_KEYS?.includes(values.CHAIN_TREASURY_KEY)
  const hasPublicHost = host?.includes('.') && !/(^|\.)localhost$/i.test(host)
  const hasUnusedOnly = values.GRAPHQL_TRUSTED_ONLY && !values.GRAPHQL_TRUSTED_DOCUMENTS
  const hasHalfIdentity = (values.C2PA_CERTIFICATES === undefined) !== (values.C2PA_PRIVATE_KEY === undefined)
  const unsafe = `Embedded parts are not allowed in production: ${embedded}. ANNAL_EMBEDDED=true allows them.`
  const problems: [applies: unknown, problem: string][] = [
    [sharesPort, 'HEALTH_PORT and PORT are the same: probes need their own port.'],
    [values.CHAIN_RPC_URL && !values.CHAIN_RELAY_KEYS, 'CHAIN_RELAY_KEYS is needed with CHAIN_RPC_URL.'],
    [values.S3_BUCKET && values.IPFS_API_URL, 'S3_BUCKET and IPFS_API_URL are both set: choose one file store.'],
    [values.S3_ENDPOINT && !values.S3_BUCKET, 'S3_BUCKET is needed with S3_ENDPOINT.'],
    [values.DATABASE_DIRECT_URL && !values.DATABASE_URL, 'DATABASE_URL is needed with DATABASE_DIRECT_URL.'],
    [treasuryRelays, 'CHAIN_TREASURY_KEY is one of CHAIN_RELAY_KEYS: coins of users would pay for commits.'],
    [hasUnusedOnly, 'GRAPHQL_TRUSTED_DOCUMENTS is needed with GRAPHQL_TRUSTED_ONLY.'],
    [hasHalfIdentity, 'C2PA_CERTIFICATES and C2PA_PRIVATE_KEY are needed together.'],
    [production && embedded && !values.ANNAL_EMBEDDED, unsafe],
    [production && !values.PUBLIC_URL, 'PUBLIC_URL is needed in production: links and commits contain it.'],
    [production && !hasPublicHost, 'MAIL_FROM is needed in production, such as Annal <no-reply@example.org>.'],
  ]
  return problems.flatMap(([applies, problem]) => (applies ? [problem] : []))
}

/** Returns the environment, completed by the file `.env` if there is one. */
function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

export type Config = ReturnType<typeof readConfig>

/** Returns the validated, frozen configuration. `overrides`: values from the command line. Throws ConfigError. */
export function readConfig(
  env: NodeJS.ProcessEnv = environment(),
  overrides: Readonly<Partial<Record<Name, string | undefined>>> = {},
) {
  const values = read({ ...env, ...overrides })
  const production = values.NODE_ENV === 'production'
  const problems = findContradictions(values)
  if (problems.length) throw new ConfigError(problems)
  return Object.freeze({
    production,
    embeddedParts: embeddedPartsOf(values),
    port: values.PORT,
    host: values.HOST,
    healthPort: values.HEALTH_PORT,
    roles: new Set<Role>(values.ROLES),
    shutdownDelayMs: values.SHUTDOWN_DELAY_SECONDS * 1_000,
    tracing:
      values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            url: `${values.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')}/v1/traces`,
            ...{ share: values.OTEL_TRACES_SAMPLER_ARG, exportEvery: 5_000 },
          },
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
      /** Maximum fee, in wei per unit of gas. */
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
      garbageGraceSeconds: 3_600,
    },
    contentCredentials: {
      certificates: values.C2PA_CERTIFICATES && resolve(values.C2PA_CERTIFICATES),
      key: values.C2PA_PRIVATE_KEY,
      mayBeDevelopment: !production || values.ANNAL_EMBEDDED,
      timestampUrl: values.C2PA_TIMESTAMP_URL,
      trustList: values.C2PA_TRUST_LIST && resolve(values.C2PA_TRUST_LIST),
    },
    keys: { key: values.KEY_ENCRYPTION_KEY, previousKeys: values.KEY_ENCRYPTION_KEY_PREVIOUS },
    money: {
      assetUpdateFee: values.ASSET_UPDATE_FEE,
      /** Gas fee of a commit, in currency units. With GAS_FEE=auto, this is the initial gas fee. */
      gasFee: values.GAS_FEE === 'auto' ? '0.079' : values.GAS_FEE,
      /** Bounds of the gas fee with GAS_FEE=auto. */
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
    retention: { eventDays: 90, idempotencyKeyDays: 7, sessionIdleDays: 365 },
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

/** Returns all variables with their documentation, in the order of `annal config`. */
export const describeConfig = () =>
  Object.entries(variables).map(([name, schema]) => {
    const fallback = String(schema.safeParse(undefined).data ?? '')
    return { name, doc: docs[name as Name], isSecret: secretNames.has(name), default: fallback || undefined }
  })

/** Returns the secrets that are set in the environment instead of in a file. */
export const plainSecrets = (env: NodeJS.ProcessEnv = environment()): { name: string; value: string }[] =>
  [...secretNames].flatMap((name) => (env[name] ? [{ name, value: env[name] }] : []))

/** Returns a variable that is not part of the configuration of a service. */
export const readOther = (name: 'ANNAL_TOKEN' | 'AWS_SECRET_ACCESS_KEY', env: NodeJS.ProcessEnv = environment()) =>
  env[name] || undefined

const SINGLE_PROCESS =
  'WEB_CONCURRENCY is not supported: Annal is one process. Start several processes behind a load balancer instead (docs/how-to/scale-out.md).'
/** Environment variables of command-line tools. */
const ofTools = ['ANNAL_TOKEN', 'ANNAL_URL', 'ANNAL_API_KEY']
/** Prefixes of variables of Annal. OTEL_ is not one, because Annal does not read all of them. */
const OWN_PREFIX = /^(ANNAL|C2PA|CHAIN|DATABASE|GRAPHQL|KEY|S3|SMTP|WITHDRAWALS?)_/

/** Returns whether Kubernetes sets the variable for a service whose name starts like a variable of Annal. */
const isOfKubernetes = (name: string) => /_(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP)\w*)?)$/.test(name)

/** Returns a sentence for each variable that looks like a variable of Annal but has no effect. */
export function findUnread(env: NodeJS.ProcessEnv = environment()): string[] {
  const known = new Set([...Object.keys(variables), ...[...secretNames].map((name) => `${name}_FILE`), ...ofTools])
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.has(name) || isOfKubernetes(name)) return []
    if (name === 'WEB_CONCURRENCY') return env[name] === '1' ? [] : [SINGLE_PROCESS]
    const whole = name.replace(/_FILE$/, '')
    if (whole !== name && whole in variables)
      return [`${name} has no effect: ${whole} is not a secret and cannot be read from a file.`]
    return OWN_PREFIX.test(name) ? [`${name} is not a variable of Annal and has no effect.`] : []
  })
}

/** Returns all variables with their effective values. Values of secrets are hidden. Throws ConfigError. */
export function effectiveConfig(env: NodeJS.ProcessEnv = environment()) {
  const values = read(env)
  return describeConfig().map(({ name, doc, isSecret }) => {
    const value = values[name as Name]
    return { name, value: value !== undefined && isSecret ? '(set, not shown)' : value, doc }
  })
}
