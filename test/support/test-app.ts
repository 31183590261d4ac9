/** Starts the real service with its own database, chain key and port. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hexlify, randomBytes, Wallet } from 'ethers'
import { expect, inject } from 'vitest'
import { createApp, loadModules, openChain } from '../../src/app.ts'
import { createRpc } from '../../src/chain/rpc.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { checkInvariants } from '../../src/db/invariants/check-invariants.ts'
import { createRoutes } from '../../src/http/create-routes.ts'
import { createHttpServer } from '../../src/http/http-server.ts'
import { openInfrastructure } from '../../src/infrastructure.ts'
import { openTelemetry } from '../../src/telemetry/telemetry.ts'
import { atEnd } from './at-end.ts'
import { createGraphQL, type GraphQL } from './graphql-client.ts'
import type { Answer, FormValue } from './http-client.ts'
import { createRest, type Rest } from './rest-client.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'
import { createTestLog } from './test-log.ts'
import { createTestHasher, insertTestUser, type TestUser, type UserOptions } from './user.ts'

/** A user whose requests contain their token. */
export interface SignedIn extends TestUser {
  rest: Rest
  graphql: GraphQL
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  register(fields?: Record<string, FormValue>): Promise<any>
}

export interface TestAppOptions {
  env?: Record<string, string>
  withChain?: boolean
  configure?: (config: Config) => Config
  rpcUrl?: string
  withClock?: boolean
  database?: TestDatabase
  fastPaths?: boolean
}

let files = 0
/** Returns a new file that no user has registered. */
export const newFile = (name = 'photo.png', type = 'image/png') => {
  files += 1
  return new File([`file ${files} of ${process.pid} ${performance.timeOrigin}`], name, { type })
}

export const registerWith = async (rest: Rest, fields: Record<string, FormValue>): Promise<Answer> => {
  const answer = await rest('POST', 'assets/', { multipart: { asset_file: newFile(), ...fields } })
  if (answer.status !== 201) throw new Error(`Registration failed: ${answer.status} ${answer.text}`)
  return answer
}

export async function fundedKey(): Promise<string> {
  const { address, privateKey } = new Wallet(hexlify(randomBytes(32)))
  await createRpc({ url: inject('rpcUrl') }).call('anvil_setBalance', address, '0x56bc75e2d63100000')
  return privateKey
}

/**
 * Starts the service for the test file and stops it after the last test. Then no database connection may be open and all
 * invariants must hold.
 */
export async function createTestApp({
  env = {},
  withChain = false,
  configure = (config) => config,
  rpcUrl = inject('rpcUrl'),
  withClock = false,
  database: given,
  fastPaths = true,
}: TestAppOptions = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'annal-app-'))
  const testDatabase = given ?? (await createTestDatabase({ withClock }))
  const log = createTestLog()
  const variables = {
    ANNAL_DIR: dir,
    CHAIN_CONFIRMATIONS: '1',
    ...env,
    LIMITS: `sign-up=1000000,sign-in=1000000,reset=1000000,verification=1000000,open-orders=1000000,${env.LIMITS ?? ''}`,
    DATABASE_URL: testDatabase.url,
    CHAIN_RPC_URL: rpcUrl,
    CHAIN_RELAY_KEYS: await fundedKey(),
    CHAIN_DEPLOY_REGISTRY: 'true',
  }
  const config = configure(readConfig(variables))
  const telemetry = await openTelemetry({ hasMetrics: config.metrics.isOn, tracing: config.tracing, version: 'test' })
  const server = createHttpServer({ log, telemetry: telemetry.requests(log) })
  const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`
  const installation = {
    ...(await openInfrastructure(config, log, { isService: false, telemetry, fastPaths })),
    passwords: createTestHasher(),
  }
  const { database } = installation
  const modules = await loadModules()
  const chain = await openChain(installation, url, modules)
  const app = createApp({
    ...installation,
    relay: chain.relay,
    coins: chain.coins,
    histories: chain.histories,
    publicUrl: url,
    modules,
  })
  const routes = await createRoutes(app, {
    ...installation,
    fastPaths,
    missing: async () => ((await database.isReachable()) ? [] : ['database']),
  })
  await app.prepare()
  const watched = { ...routes.watched, database, relay: chain.relay }
  const healthPort =
    config.healthPort === undefined ? undefined : await server.listen(config.healthPort, '127.0.0.1', 'HEALTH_PORT')
  const access = { token: config.metrics.token, port: healthPort }
  await server.serve((fastify) => {
    telemetry.addRoutes(fastify, { watched, access, log })
    routes.addRoutes(fastify)
  })
  if (withChain) chain.relay.start()

  atEnd(async () => {
    await server.drain(1_000)
    await chain.close()
    const broken = (await checkInvariants(database)).filter(({ rows }) => rows.length > 0)
    const fallbacks = Object.fromEntries(database.fallbacks)
    await installation.close()
    await telemetry.close()
    await testDatabase.drop()
    const uploads = await readdir(join(dir, 'uploads')).catch(() => [])
    await rm(dir, { recursive: true, force: true })
    expect(uploads, 'Uploads are left after the tests').toEqual([])
    expect(broken, `Invariants do not hold after the tests: ${JSON.stringify(broken, null, 2)}`).toEqual([])
    expect(fallbacks, 'Reads were left to Prisma: extend src/db/read-compiler').toEqual({})
  })

  const sql = async <Row = Record<string, string>>(text: string, values: unknown[] = []): Promise<Row[]> =>
    database.prisma.$queryRawUnsafe(text, ...values)
  const newUser = async (options?: UserOptions): Promise<SignedIn> => {
    const user = await insertTestUser(installation, options)
    const rest = createRest(url, { actor: user })
    const register: SignedIn['register'] = async (fields = {}) => (await registerWith(rest, fields)).body
    return { ...user, rest, graphql: createGraphQL(url, { actor: user }), register }
  }

  return {
    url,
    operatorsUrl: `http://127.0.0.1:${healthPort}`,
    env: variables,
    installation,
    chain,
    context: app.context,
    linkConfig: app.context.linkConfig,
    maintenance: app.maintenance,
    jobs: app.jobs,
    log,
    rest: createRest(url),
    graphql: createGraphQL(url),
    newUser,
    admin: () => newUser({ role: 'ADMIN' }),
    sql,
    async wallet({ id }: TestUser) {
      const [row] = await sql<{ num: string; points: string }>(
        'select trim_scale(num)::text as num, trim_scale(points)::text as points from wallets where user_id = $1::uuid',
        [id],
      )
      return row!
    },
    async commitCount(nid: string) {
      const [row] = await sql<{ n: number }>(
        'select count(*)::int as n from commits c join assets a on a.id = c.asset_id where a.nid = $1',
        [nid],
      )
      return row!.n
    },
    async stopClock(at: string | null) {
      await sql('delete from clock.stopped')
      if (at !== null) await sql(`insert into clock.stopped select (${at})`)
    },
  }
}

export type TestApp = Awaited<ReturnType<typeof createTestApp>>
