/** What stands in deploy/ is what its readers take: Compose, Kubernetes and systemd, each by its own schema. */
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startOwnPostgres } from './postgres.ts'
import { bash, root } from './shell.ts'

const deploy = join(root, 'deploy')
const tools = join(import.meta.dirname, 'tools')
const KUBERNETES = ['1.34', '1.37']

const annal = `${process.execPath} --disable-warning=ExperimentalWarning ${root}/src/cli.ts`

let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-manifests-'))
  await bash('npm ci --ignore-scripts --no-audit --no-fund', tools)
  await bash(`python3 -m venv ${dir}/venv && ${dir}/venv/bin/pip install --quiet -r ${tools}/requirements.txt`, dir)
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describe('Compose file', () => {
  it('the Compose file is valid, and uses the secrets of make-secrets.sh', async () => {
    await bash(`${tools}/node_modules/.bin/dclint --quiet ${deploy}/compose/compose.yaml`, dir)
    const copy = join(dir, 'make-secrets.sh')
    await writeFile(copy, await readFile(join(deploy, 'compose/make-secrets.sh')))
    await chmod(copy, 0o755)
    await bash(copy, dir)
    const text = await readFile(join(deploy, 'compose/compose.yaml'), 'utf8')
    const named = [...text.matchAll(/file: (secrets\/[a-z-]+)/g)].map(([, file]) => file!)
    expect(named).toHaveLength(4)
    for (const file of named) expect((await stat(join(dir, file))).size, file).toBeGreaterThan(60)
    const before = await bash('cat secrets/*', dir)
    await bash(copy, dir)
    expect(await bash('cat secrets/*', dir), 'what is there stays as it is').toBe(before)
  })
})

describe('Kubernetes manifests', () => {
  it.each(KUBERNETES)(
    'the Kubernetes manifests match the schemas of Kubernetes %s without unknown fields',
    async (version) => {
      const files = (await bash('ls *.yaml | grep -v kustomization', join(deploy, 'kubernetes'))).trim().split('\n')
      const validate = `${dir}/venv/bin/kubernetes-validate --strict -k ${version}`
      await bash(`${validate} ${files.join(' ')}`, join(deploy, 'kubernetes'))
    },
  )
})

describe('load balancer configurations', () => {
  it.each([
    ['haproxy', 'haproxy -c -f haproxy/haproxy.cfg'],
    [
      'nginx',
      `printf 'pid /tmp/annal-nginx.pid; events {} http { include %s; }' "$PWD/nginx/annal.conf" > "$TMP_CONF" && nginx -t -e stderr -c "$TMP_CONF"`,
    ],
  ])('the load balancer configuration of %s is valid', async (program, line) => {
    const missing = `echo '${program} is missing: apt-get install ${program}' >&2; exit 1`
    const TMP_CONF = join(dir, `${program}.conf`)
    const said = await bash(`command -v ${program} > /dev/null || { ${missing}; }; { ${line}; } 2>&1`, deploy, {
      TMP_CONF,
    })
    expect(said).not.toMatch(/warn|error/i)
  })
})

describe('Prometheus and Alertmanager configurations', () => {
  it.each([
    ['promtool', 'prometheus', 'promtool check config prometheus/prometheus.yml'],
    ['amtool', 'prometheus-alertmanager', 'amtool check-config alertmanager/alertmanager.yml'],
  ])('the Prometheus and Alertmanager configurations pass %s', async (tool, name, line) => {
    const missing = `echo '${tool} is missing: apt-get install ${name}' >&2; exit 1`
    expect(await bash(`command -v ${tool} > /dev/null || { ${missing}; }; ${line}`, deploy)).toContain('SUCCESS')
  })

  it('Alertmanager sends critical alerts to a separate receiver', async () => {
    const receiverOf = async (severity: string) =>
      (
        await bash(`amtool config routes test --config.file=alertmanager/alertmanager.yml severity=${severity}`, deploy)
      ).trim()
    expect(await Promise.all(['critical', 'warning', 'info'].map(receiverOf))).toEqual([
      'on-call',
      'operators',
      'operators',
    ])
  })
})

describe('PgBouncer configuration', () => {
  it('PgBouncer loads its configuration and accepts Annal', async () => {
    const missing = "echo 'pgbouncer is missing: apt-get install pgbouncer' >&2; exit 1"
    await bash(`command -v pgbouncer > /dev/null || { ${missing}; }`, dir)
    const folder = join(dir, 'postgres')
    await mkdir(folder, { mode: 0o755 })
    const postgres = await startOwnPostgres(folder)
    const url = await postgres.createDatabase('annal')
    const pooler = await startPgBouncer(new URL(url))
    try {
      const env = { ANNAL_DIR: join(dir, 'annal'), DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: url }
      await until('PgBouncer lets Annal in', () => canConnect(pooler.url))
      await bash(`${annal} migrate`, dir, env)
      expect(JSON.parse(await bash(`${annal} api-key list --json`, dir, env))).toEqual([])
    } finally {
      pooler.stop()
      await postgres.stop()
    }
  })
})

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function startPgBouncer({ port, password, search }: URL) {
  const own = await findFreePort()
  const text = (await readFile(join(deploy, 'pgbouncer/pgbouncer.ini'), 'utf8'))
    .replace('port=5432', `port=${port}`)
    .replace('listen_port = 6432', `listen_port = ${own}`)
    .replace('/etc/pgbouncer/userlist.txt', `${dir}/userlist.txt`)
  await writeFile(join(dir, 'pgbouncer.ini'), text)
  await writeFile(join(dir, 'userlist.txt'), `"annal" "${password}"\n`)
  // It refuses to run as root.
  await bash(`chmod a+rX ${dir} ${dir}/userlist.txt ${dir}/pgbouncer.ini`, dir)
  const child = spawn('pgbouncer', ['-u', 'nobody', join(dir, 'pgbouncer.ini')], { stdio: 'inherit' })
  return { url: `postgresql://annal:${password}@127.0.0.1:${own}/annal${search}`, stop: () => child.kill() }
}

describe('systemd unit', () => {
  it('the systemd unit is valid and restricts the service', async () => {
    const unit = await readFile(join(deploy, 'systemd/annal.service'), 'utf8')
    // What it starts is not installed here.
    await writeFile(join(dir, 'annal.service'), unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'))
    expect(await bash('systemd-analyze verify ./annal.service 2>&1', dir)).toBe('')
    await bash('systemd-analyze security --offline=true --threshold=20 ./annal.service', dir)
  })
})
