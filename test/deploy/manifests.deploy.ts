/** What stands in deploy/ is what its readers take: Compose, Kubernetes and systemd, each by its own schema. */
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bash, root } from './shell.ts'

const deploy = join(root, 'deploy')
const tools = join(import.meta.dirname, 'tools')
/** A version of Kubernetes that is maintained, and the newest that the schemas are there for. */
const KUBERNETES = ['1.34', '1.37']

let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-manifests-'))
  await bash('npm ci --ignore-scripts --no-audit --no-fund', tools)
  await bash(`python3 -m venv ${dir}/venv && ${dir}/venv/bin/pip install --quiet -r ${tools}/requirements.txt`, dir)
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describe('the Compose file', () => {
  it('is one by the specification, and names secrets that make-secrets.sh makes', async () => {
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

describe('the Kubernetes manifests', () => {
  it.each(KUBERNETES)('fit the schemas of Kubernetes %s, without a field that it does not know', async (version) => {
    const files = (await bash('ls *.yaml | grep -v kustomization', join(deploy, 'kubernetes'))).trim().split('\n')
    const validate = `${dir}/venv/bin/kubernetes-validate --strict -k ${version}`
    await bash(`${validate} ${files.join(' ')}`, join(deploy, 'kubernetes'))
  })
})

describe('the files of balancers', () => {
  it.each([
    ['haproxy', 'haproxy -c -f haproxy/haproxy.cfg'],
    [
      'nginx',
      `printf 'pid /tmp/annal-nginx.pid; events {} http { include %s; }' "$PWD/nginx/annal.conf" > "$TMP_CONF" && nginx -t -e stderr -c "$TMP_CONF"`,
    ],
  ])('of %s are understood whole', async (program, line) => {
    const missing = `echo '${program} is missing: apt-get install ${program}' >&2; exit 1`
    const TMP_CONF = join(dir, `${program}.conf`)
    const said = await bash(`command -v ${program} > /dev/null || { ${missing}; }; { ${line}; } 2>&1`, deploy, {
      TMP_CONF,
    })
    expect(said).not.toMatch(/warn|error/i)
  })
})

describe('the systemd unit', () => {
  it('is understood whole, and leaves the service little to do harm with', async () => {
    const unit = await readFile(join(deploy, 'systemd/annal.service'), 'utf8')
    // What it starts is not installed here.
    await writeFile(join(dir, 'annal.service'), unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'))
    expect(await bash('systemd-analyze verify ./annal.service 2>&1', dir)).toBe('')
    await bash('systemd-analyze security --offline=true --threshold=20 ./annal.service', dir)
  })
})
