/**
 * `npm run test:ecosystem -- <suite> [arguments]` runs a suite that needs other programs or registries, such as Kubo, Go or Prometheus.
 * CONTRIBUTING.md lists what each suite needs.
 */
import { spawnSync } from 'node:child_process'

const root = new URL('../..', import.meta.url)
const vitest = (suite: string) => ['vitest', 'run', '--config', `test/ecosystem/${suite}/vitest.config.ts`]
const script = (suite: string) => ['node', '--disable-warning=ExperimentalWarning', `test/ecosystem/${suite}/run.ts`]

const suites: Record<string, string[][]> = {
  c2pa: [script('c2pa')],
  clients: [script('clients')],
  dashboard: [vitest('dashboard')],
  deploy: [vitest('deploy')],
  examples: [
    ['npm', 'ci', '--prefix', 'examples/web'],
    ['npm', 'run', 'build', '--prefix', 'examples/web'],
    vitest('examples'),
  ],
  gateway: [vitest('gateway')],
  kubo: [vitest('kubo')],
  s3: [vitest('s3')],
}

const [name = '', ...rest] = process.argv.slice(2)
const commands = suites[name]
if (!commands) {
  process.stderr.write(`Usage: npm run test:ecosystem -- <${Object.keys(suites).join('|')}> [arguments]\n`)
  process.exit(2)
}
for (const [index, [command, ...args]] of commands.entries()) {
  const isLast = index === commands.length - 1
  const { status } = spawnSync(command!, isLast ? [...args, ...rest] : args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
