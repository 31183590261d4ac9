/** The dashboard and the alerts use existing metrics, and every alert has an entry in the runbook. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { metricTable } from '../../src/telemetry/metric-table.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { alertCases } from '../ecosystem/dashboard/alert-cases.ts'
import { alerts, dashboardQueries, metricsIn, panels } from '../support/dashboard.ts'
import { parseMetrics } from '../support/scrape.ts'

const ofPrometheus = ['up', 'scrape_duration_seconds']
const { types } = parseMetrics(await createMetrics('').text())
const parts = (name: string) =>
  types.get(name) === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name]
const known = new Set([...ofPrometheus, ...[...types.keys()].flatMap(parts)])
const alertsPage = readFileSync(new URL('../../docs/reference/alerts.md', import.meta.url), 'utf8')

describe('dashboard and alerts', () => {
  it('the dashboard and the alerts use only existing metrics', () => {
    const unknown = [...dashboardQueries, ...alerts].flatMap(({ expr }) =>
      metricsIn(expr).filter((name) => !known.has(name)),
    )
    expect(unknown).toEqual([])
  })

  it('each panel of the dashboard has its own ID and its own place', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    // Grafana arranges panels in a grid of 24 columns.
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => (y + Math.floor(index / w)) * 24 + x + (index % w)),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })

  it('the dashboard and the alerts cover every important metric', () => {
    const queried = new Set([...dashboardQueries, ...alerts].flatMap(({ expr }) => metricsIn(expr)))
    const unseen = Object.keys(metricTable).filter((name) => !parts(name).some((part) => queried.has(part)))
    expect(unseen, 'run `npm run generate`').toEqual([])
  })

  it('each alert has a firing and a silent test case', () => {
    expect(Object.keys(alertCases)).toEqual(alerts.map(({ name }) => name))
  })

  it('the dashboard and the alerts count values that all processes share only once', () => {
    const shared = Object.entries(metricTable).filter(
      ([, row]) => 'source' in row && ['database', 'ledger', 'chain'].includes(row.source ?? ''),
    )
    const summed = [...dashboardQueries, ...alerts].filter(({ expr }) =>
      shared.some(([name]) => new RegExp(`\\bsum( by \\([^)]*\\))? \\((rate\\()?${name}`).test(expr)),
    )
    expect(summed).toEqual([])
  })
})

describe('docs/reference/alerts.md', () => {
  it('docs/reference/alerts.md explains each alert and its remedy, in order', () => {
    const entries = [...alertsPage.matchAll(/^## (\w+)\n\n\*\*(\w+)\.\*\* [^\n]+\n\n[^\n]+/gm)].map(
      ([, name, severity]) => ({
        name,
        severity,
      }),
    )
    expect(entries).toEqual(alerts.map(({ name, severity }) => ({ name, severity })))
    expect(alerts.map(({ runbook }) => runbook)).toEqual(
      alerts.map(({ name }) => `docs/reference/alerts.md#${name.toLowerCase()}`),
    )
  })
})
