/** Each alert is seen to fire and not to fire, by Prometheus's own tests of rules. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { alerts } from '../../support/dashboard.ts'
import { alertCases } from './alert-cases.ts'

const rules = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url))
const promtool = process.env.PROMETHEUS ? join(dirname(process.env.PROMETHEUS), 'promtool') : 'promtool'

const seriesOf = (samples: Record<string, string>) =>
  Object.entries(samples).map(([series, values]) => ({ series, values }))
const CALM_MINUTES = 90

type Alert = { name: string; severity?: string | undefined; summary?: string | undefined; runbook?: string | undefined }

function testsOf({ name, severity, summary, runbook }: Alert) {
  const { trouble, firesAt, overAt, calm, calmFrom = 0, labels } = alertCases[name]!
  const at = (minute: number, ...exp_alerts: object[]) => ({ alertname: name, eval_time: `${minute}m`, exp_alerts })
  const reported = summary?.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label]!)
  const firing = { exp_labels: { ...labels, severity }, exp_annotations: { summary: reported, runbook } }
  const group = (samples: Record<string, string>, alert_rule_test: object[]) => ({
    ...{ interval: '1m', input_series: seriesOf(samples), alert_rule_test },
  })
  return [
    group(trouble, [at(firesAt - 1), at(firesAt, firing), ...(overAt === undefined ? [] : [at(overAt)])]),
    group(
      calm,
      Array.from({ length: CALM_MINUTES - calmFrom }, (_, minute) => at(calmFrom + minute)),
    ),
  ]
}

it.each(alerts)('the alert $name fires only in its firing case, with the expected text', async (alert) => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-alerts-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'alerts.test.yml')
  // JSON is YAML.
  const suite = { rule_files: [rules], evaluation_interval: '1m', tests: testsOf(alert) }
  await writeFile(file, JSON.stringify(suite))
  const { status, stdout, stderr, error } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })
  expect(error, 'promtool comes with Prometheus: see CONTRIBUTING.md').toBeUndefined()
  expect(status, `${stdout}${stderr}`).toBe(0)
})
