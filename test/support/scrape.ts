import { expect } from 'vitest'

const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Parses the text format. Throws an error for an invalid line. */
export function parseMetrics(text: string) {
  const types = new Map<string, string>()
  const samples: { name: string; labels: Record<string, string>; value: number }[] = []
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (name) types.set(name, type!)
    if (line === '' || line.startsWith('#')) continue
    const match = SAMPLE.exec(line)
    if (!match) throw new Error(`Not of Prometheus's text format: ${line}`)
    const labels = Object.fromEntries([...(match[2] ?? '').matchAll(LABEL)].map(([, label, value]) => [label, value!]))
    samples.push({ name: match[1]!, labels, value: Number(match[3]) })
  }
  const all = (name: string) => samples.filter((sample) => sample.name === name)
  return {
    types,
    all,
    value(name: string, labels: Record<string, string> = {}) {
      const found = all(name).filter((sample) =>
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )
      if (found.length > 1) throw new Error(`${name} has ${found.length} samples with ${JSON.stringify(labels)}`)
      return found[0]?.value
    },
  }
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return parseMetrics(await response.text())
}

export type Scrape = ReturnType<typeof parseMetrics>
