/** A real Prometheus on loopback, which asks a service of ours once a second. Nothing is installed: it has to be there. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '../../support/at-end.ts'
import { until } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'

export type Sample = { metric: Record<string, string>; value: number }

function findBinary(): string {
  const binary = process.env.PROMETHEUS ?? 'prometheus'
  try {
    execFileSync(binary, ['--version'], { stdio: 'ignore' })
    return binary
  } catch {
    throw new Error(
      `This test needs Prometheus 2.40 or later: "${binary}" cannot be run. On Debian: apt-get install prometheus; else name the binary by PROMETHEUS=<path>.`,
    )
  }
}

async function stop(child: ChildProcess, dir: string) {
  child.kill()
  if (child.exitCode === null) await once(child, 'exit')
  await rm(dir, { recursive: true, force: true })
}

export async function startPrometheus(target: string, rules: string) {
  const binary = findBinary()
  const dir = await mkdtemp(join(tmpdir(), 'annal-prometheus-'))
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'annal', static_configs: [{ targets: [target] }] }],
  }
  // JSON is YAML.
  await writeFile(join(dir, 'prometheus.yml'), JSON.stringify(config))
  const address = `127.0.0.1:${await findFreePort()}`
  const child = spawn(
    binary,
    [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  )
  atEnd(() => stop(child, dir))
  const get = async (path: string) => {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
    const body = (await response.json()) as any
    if (body.status !== 'success') throw new Error(body.error)
    return body.data
  }
  await until('Prometheus answers', () => get('status/runtimeinfo').catch(() => undefined))
  return {
    async ask(query: string): Promise<Sample[]> {
      const { result } = await get(`query?query=${encodeURIComponent(query)}`)
      return result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => ({
        metric,
        value: Number(value[1]),
      }))
    },
    async alertingRules(): Promise<{ name: string; health: string; state: string }[]> {
      const { groups } = await get('rules?type=alert')
      return groups.flatMap(({ rules }: { rules: object[] }) => rules)
    },
  }
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>
