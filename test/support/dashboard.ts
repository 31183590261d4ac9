/** The Prometheus queries in deploy/: dashboard panels and alerts. */
import { readFileSync } from 'node:fs'

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8')

interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { refId: string; expr: string }[]
}

export const { panels } = JSON.parse(read('grafana/annal.json')) as { panels: Panel[] }

/** Every query of the dashboard. Grafana variables are not replaced. */
export const dashboardQueries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ refId, expr }) => ({ panel: title, refId, expr })),
)

export const alertsText = read('prometheus/alerts.yml')

export const alerts = alertsText
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)![0],
    expr: /expr: >-\n\s+(.*)/.exec(text)![1]!,
    runbook: /runbook: (\S+)/.exec(text)?.[1],
    severity: /severity: (\w+)/.exec(text)?.[1],
    summary: /summary: "(.*)"/.exec(text)?.[1],
  }))

const NAME = /\b(?:annal|nodejs|process|scrape)_\w+|\bup\b/g

export const metricsIn = (expr: string): string[] => [...new Set(expr.replace(/"[^"]*"/g, '').match(NAME) ?? [])]
