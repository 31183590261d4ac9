/**
 * `node bench/statements.ts [seconds]`: what one PostgreSQL carries of our own writing statements. pgbench sends them as the service
 * does, prepared, in scripts that are made from the declarations; no gateway, no network. Writes that the service joins are sent in
 * both forms, for one caller and for several. For each statement, on one core and on two, with `fsync` and without: how many a second, counted by what is there
 * afterwards, the processor time of the server for each, and the bytes that each leaves in its log. Seconds mean something on a machine where nothing else
 * runs; processor time and bytes do anywhere. Needs pgbench (Debian: apt-get install postgresql-contrib), PGBENCH names another one.
 */
import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { storePrepared } from '../src/chain/relay/commit-signer.ts'
import { markFinal, markIncluded } from '../src/chain/relay/follow-commits.ts'
import { storeSigned } from '../src/chain/relay/relay.sql.ts'
import { prepareDatabase } from '../src/db/migrations.ts'
import type { Statement } from '../src/db/sql.ts'
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.ts'
import { updateAssetStatement } from '../src/modules/assets/update-asset.ts'
import { payOrder } from '../src/modules/store/orders.sql.ts'
import type { Log } from '../src/shared/log.ts'

const execute = promisify(execFile)
const SECONDS = Number(process.argv[2] ?? 10)
const PGBENCH = process.env.PGBENCH ?? '/usr/bin/pgbench'
const CLIENTS = 8
const ASSETS_OF_CLIENT = 250
const USERS = CLIENTS * ASSETS_OF_CLIENT
const SELLERS = 200
/** For all runs together, so that none pays what is paid. */
const ORDERS = 400_000
/** Cores and `fsync`. */
const ROUNDS = 4
/** Runs of a round that take orders or commits of their own: one by one, and together. */
const PARTS = 2
/** What one run of a script may take, and each client of it. */
const RUN = Math.floor(ORDERS / ROUNDS / PARTS)
const SHARE = Math.floor(RUN / CLIENTS)
/** Callers that one statement serves, of writes that are joined. */
const TOGETHER = 16
/** Of commits that are there already: above those of any run. */
const SEEDED = 10_000_000
/** Heads of one run lie above those of the run before. */
const HEADS = 100_000
/** Commits that the relay has under way at once, in one transaction of the chain. */
const BATCH = 25
const TICK_MS = 10

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** Identifiers that a script can count: `bench_id(17)`. */
const seed = `
  create function bench_id(n bigint) returns uuid language sql immutable return lpad(to_hex(n), 32, '0')::uuid;
  insert into users (id, username, username_key, email, password_hash, display_name)
    select bench_id(n), 'bench ' || n, 'bench ' || n, n || '@example.org', '!', 'bench' from generate_series(1, ${USERS + SELLERS}) n;
  insert into wallets (user_id, address, num, points)
    select bench_id(n), '0x' || lpad(to_hex(n), 40, '0'), 1000000, 100 from generate_series(1, ${USERS + SELLERS}) n;
  insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id)
    select bench_id(n), 'bafy' || n, bench_id(n), bench_id(n), 'a.png', 'image/png', 1, repeat('0', 64), bench_id(n)
    from generate_series(1, ${USERS}) n;
  insert into network_apps (id, owner_id, name, price)
    select bench_id(n), bench_id(${USERS} + n), 'bench ' || n, 0.5 from generate_series(1, ${SELLERS}) n;
  insert into orders (id, buyer_id, network_app_id, network_app_name, price, quoted_points, quoted_num, created_at, expires_at)
    select bench_id(n), bench_id(1 + n % ${USERS}), bench_id(1 + n % ${SELLERS}), 'bench', 0.5, 0, 0.5, now(), now() + interval '1 day'
    from generate_series(1, ${ORDERS}) n;
  update wallets set open_orders = ${Math.ceil(ORDERS / USERS)} where user_id <= bench_id(${USERS});
  insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    select bench_id(n), bench_id(1 + n % ${USERS}), ${SEEDED} + n / ${USERS}, bench_id(1 + n % ${USERS}), 'm', '{}', repeat('t', 800), 'bafy' || n, repeat('0', 64)
    from generate_series(1, ${ORDERS}) n;
  insert into commit_relays (commit_id) select bench_id(n) from generate_series(1, ${ORDERS}) n;`

type Expressions = (n: string) => Record<string, string>

/** One pgbench script: what it counts, and the statements that it sends, with expressions for their parameters. */
interface Script {
  name: string
  lines: string[]
  sends: [statement: Statement<never, unknown>, given: Record<string, string>][]
  /** Tells how many are done. */
  done: string
}

const none = { scope: 'null', payloadHash: 'null', trace: 'null' }
const from = (count: number) => `generate_series(:first, :first + ${count - 1})`
const upTo = (expression: string) => `array(select ${expression} from ${from(BATCH)} n)`
const commits = upTo('bench_id(n)')
const hash = `'0x' || :first`

/** `first` is the first of `step` numbers that no run has had. */
const counted = (step: number) => [
  `\\set first :base + :client_id * ${SHARE} + :i * ${step} + 1`,
  '\\set i :i + 1',
  '\\set n :first',
]

const typeIn = ({ parameters }: Statement<never, unknown>, place: string) => parameters[Number(place) - 1]!
const absent = (type: string) => (type.startsWith('text') ? `''` : 'null')

/** Of each parameter the list for several callers, by what it is for one. */
const listsOf = ({ parameters }: Statement<never, unknown>, expressions: Expressions): Record<string, string> =>
  Object.fromEntries(
    parameters.map(({ name, type }) => {
      const one = expressions('n')[name === 'origins' ? 'trace' : name] ?? absent(type)
      return [name, `array(select (${one})::${type.replace('[]', '')} from ${from(TOGETHER)} n)`]
    }),
  )

/** A write in both forms. */
function joined(name: string, write: Statement<never, unknown>, done: string, expressions: Expressions): Script[] {
  const together = write.together!.statement
  return [
    { name, done, lines: counted(1), sends: [[write, expressions(':n')]] },
    {
      name: `${name}, ${TOGETHER} together`,
      done,
      lines: counted(TOGETHER),
      sends: [[together, listsOf(together, expressions)]],
    },
  ]
}

/** Of the client's assets one after the other, each at its next number. */
const onAsset = (n: string) => {
  const turn = `((${n} - 1) % ${SHARE})`
  const asset = `(1 + :client_id * ${ASSETS_OF_CLIENT} + ${turn} % ${ASSETS_OF_CLIENT})`
  return {
    user: `bench_id(${asset})`,
    asset: `bench_id(${asset})`,
    nid: `'bafy' || ${asset}`,
    headSequence: `(:start + ${turn} / ${ASSETS_OF_CLIENT})`,
  }
}

const scripts: Script[] = [
  ...joined(
    'update of an asset',
    updateAssetStatement,
    `select count(*) from commits where sequence < ${SEEDED}`,
    (n) => ({
      ...none,
      ...onAsset(n),
      ...{ message: `'m'`, changes: `'{"caption":["a","b"]}'`, tree: `repeat('t', 800)`, treeCid: `'bafy' || ${n}` },
      ...{ treeSha256: `repeat('0', 64)`, fee: '0.1', gas: '0.079', publicAccess: 'true', custom: `'{}'` },
    }),
  ),
  ...joined('confirm of an order', payOrder, `select count(*) from orders where status <> 'CREATED'`, (n) => ({
    ...none,
    ...{ order: `bench_id(${n})`, buyer: `bench_id(1 + ${n} % ${USERS})`, platformShare: '0.12', maxCost: 'null' },
  })),
  {
    name: 'commit through the relay',
    done: `select count(*) from commit_relays where status = 'FINAL'`,
    lines: counted(BATCH),
    sends: [
      [storePrepared, { commits, signatures: upTo(`'0x' || n`) }],
      [
        storeSigned,
        {
          ...{
            lane: `'bench'`,
            nonces: 'array[:first]',
            hashes: `array[${hash}]`,
            raws: `array[decode(repeat('00', 4000), 'hex')]`,
          },
          ...{
            fees: 'array[1]',
            tips: 'array[1]',
            commits,
            commitNonces: upTo(':first'),
            positions: upTo('n - :first'),
          },
        },
      ],
      [
        markIncluded,
        {
          ...{ commits, hashes: upTo(hash), blockNumbers: upTo('1'), blockHashes: upTo(`'0xb'`) },
          ...{ gas: upTo('21000'), fees: upTo('1') },
        },
      ],
      [markFinal, { commits, blockHashes: upTo(`'0xb'`) }],
    ],
  },
]

/** The text as pgbench takes it, in one line: each place holds an expression of the script's counters. */
function scriptOf({ lines, sends }: Script): string {
  const texts = sends.map(([statement, given]) =>
    statement.text
      .replaceAll(/ -- .*$/gm, '')
      .replace(/\$(\d+)::([a-z ]+(?:\[\])?)/g, (_, place: string, type: string) => {
        return `(${given[typeIn(statement, place).name] ?? absent(type)})::${type}`
      }),
  )
  return [...lines, ...texts.map((text) => `${text.replaceAll('\n', ' ')};`)].join('\n')
}

/** Processor time of the server in milliseconds: of all its processes, also of those that have ended. */
function processorTime(postmaster: number): number {
  const times = (pid: string) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return {
        parent: Number(fields[1]),
        own: Number(fields[11]) + Number(fields[12]),
        gone: Number(fields[13]) + Number(fields[14]),
      }
    } catch {
      return undefined
    }
  }
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const own = all.map(times).filter((found) => found?.parent === postmaster)
  const root = times(String(postmaster))!
  return (root.own + root.gone + own.reduce((sum, found) => sum + found!.own, 0)) * TICK_MS
}

const processesOf = (postmaster: number) => [
  postmaster,
  ...readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readFileSyncOr(`/proc/${name}/stat`).includes(`) S ${postmaster} `))
    .map(Number),
]

function readFileSyncOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const dir = await mkdtemp(join(tmpdir(), 'annal-statements-'))
const postgres = await startEmbeddedPostgres({ dir, log: silent })
const client = new pg.Client(postgres.url)
try {
  await execute(PGBENCH, ['--version']).catch((cause) => {
    throw new Error(`pgbench is needed: apt-get install postgresql-contrib, or set PGBENCH. ${PGBENCH} does not run.`, {
      cause,
    })
  })
  await prepareDatabase(postgres.url)
  await client.connect()
  await client.query('set session_replication_role = replica')
  await client.query(seed)
  await client.query('vacuum analyze')
  const [{ pid }] = (await client.query(`select pg_backend_pid() as pid`)).rows
  const postmaster = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1])
  const walNow = async () =>
    Number((await client.query(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`)).rows[0].bytes)
  process.stdout.write(
    `${cpus()[0]!.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}; ${CLIENTS} connections, ${SECONDS} s each\n`,
  )
  process.stdout.write(
    '| statement | cores | fsync | a second | ms of processor each | bytes of log each |\n| --- | --- | --- | --- | --- | --- |\n',
  )
  let round = 0
  let run = 0
  for (const cores of [1, 2]) {
    for (const fsync of ['on', 'off']) {
      await client.query(`alter system set fsync = ${fsync}`)
      await client.query('select pg_reload_conf()')
      await client.query('checkpoint')
      for (const script of scripts) {
        const start = 1 + run * HEADS
        await client.query('update assets set head_sequence = $1', [start])
        const file = join(dir, 'script.sql')
        await writeFile(file, scriptOf(script))
        for (const process of processesOf(postmaster))
          execFileSync('taskset', ['-pc', cores === 1 ? '0' : '0,1', String(process)], { stdio: 'ignore' })
        const doneNow = async () => Number((await client.query(script.done)).rows[0].count)
        const before = { done: await doneNow(), time: processorTime(postmaster), wal: await walNow() }
        const set = Object.entries({ base: (run % PARTS) * RUN + round * RUN * PARTS, i: 0, start }).flatMap(
          ([name, value]) => ['-D', `${name}=${value}`],
        )
        const load = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '1', '-T', String(SECONDS), '-f', file]
        const { stdout } = await execute(PGBENCH, [...load, ...set, postgres.url], { maxBuffer: 1e8 })
        const time = processorTime(postmaster) - before.time
        const wal = (await walNow()) - before.wal
        const done = (await doneNow()) - before.done
        const seconds = Number(/actually processed: (\d+)/.exec(stdout)![1]) / Number(/tps = ([\d.]+)/.exec(stdout)![1])
        const cells = [
          script.name,
          cores,
          fsync,
          (done / seconds).toFixed(0),
          (time / done).toFixed(2),
          (wal / done).toFixed(0),
        ]
        process.stdout.write(`| ${cells.join(' | ')} |\n`)
        run += 1
      }
      round += 1
    }
  }
} finally {
  await client.end()
  await postgres.stop()
  await rm(dir, { recursive: true, force: true })
}
