/**
 * Draws bar charts by day as SVG on the server, each with a table of the same figures for screen readers. The overview needs one
 * kind of chart. A chart library would add a DOM and about 11 MB to the installation.
 */
import { html } from 'hono/html'
import type { Html } from '../pages/page.ts'

/** One part of each bar, from the bottom up. */
export interface Series {
  name: string
  /** How long the part is, for drawing alone; nothing happened where it is null. */
  lengthOf: (index: number) => number | null
  /** What stands in the table. */
  textOf: (index: number) => string
}

/** A plot with its words. */
export interface PlotParts {
  /** Unique in its page. */
  id: string
  title: string
  /** What is drawn, in a sentence. */
  description: string
  /** Days, as `2026-11-22`, the oldest first. */
  days: readonly string[]
  series: readonly Series[]
  /** Whether only whole numbers make sense. */
  isCount?: boolean
  /** What stands beside an axis: a short number. */
  formatTick: (value: number) => string
}

const WIDTH = 400
const HEIGHT = 200
const AREA = { left: 46, right: 396, top: 10, bottom: 174 } as const
const MOST_TICKS = 4
const MOST_DATES = 5
const GAP = 0.25

/** The next larger of 1, 2 and 5, times a power of ten. */
function niceStep(span: number): number {
  const raw = span / MOST_TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  return ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power
}

interface Scale {
  ticks: number[]
  /** Where a value stands, in units of the picture. */
  y: (value: number) => number
}

function scaleOf(sums: readonly { low: number; high: number }[], isCount: boolean): Scale {
  const high = Math.max(0, ...sums.map((sum) => sum.high))
  const low = Math.min(0, ...sums.map((sum) => sum.low))
  const step = Math.max(niceStep(high - low || 1), isCount ? 1 : 0)
  const [first, last] = [Math.floor(low / step), Math.max(Math.ceil(high / step), 1)]
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
  const height = AREA.bottom - AREA.top
  return { ticks, y: (value) => AREA.bottom - ((value - first * step) / ((last - first) * step)) * height }
}

const round = (value: number) => Number(value.toFixed(2))

// Made once: making one takes longer than all else of a day's bar.
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
/** `2026-11-22` as `22 Nov`. */
const dateOf = (day: string) => dates.format(new Date(`${day}T00:00:00Z`))

interface Part {
  from: number
  to: number
  series: number
}

/** The parts of a bar: what is above zero stands on what is, and what is below hangs below. */
function partsOf(series: readonly Series[], index: number): Part[] {
  let [above, below] = [0, 0]
  return series.flatMap(({ lengthOf }, number) => {
    const value = lengthOf(index) ?? 0
    if (value === 0) return []
    const from = value > 0 ? above : below
    if (value > 0) above += value
    else below += value
    return [{ from, to: from + value, series: number }]
  })
}

const valuesOf = (series: readonly Series[], index: number) =>
  series.map(({ name, textOf }) => `${name} ${textOf(index)}`).join(', ')

function drawing({ id, title, description, days, series, formatTick, isCount = false }: PlotParts): Html {
  const bars = days.map((_, index) => partsOf(series, index))
  const scale = scaleOf(
    bars.map((parts) => ({
      low: Math.min(0, ...parts.map(({ to }) => to)),
      high: Math.max(0, ...parts.map(({ to }) => to)),
    })),
    isCount,
  )
  const width = (AREA.right - AREA.left) / days.length
  const every = Math.ceil(days.length / MOST_DATES)
  const isDated = (index: number) => (days.length - 1 - index) % every === 0
  const rect = (index: number, { from, to, series: number }: Part) => {
    const [top, bottom] = [scale.y(Math.max(from, to)), scale.y(Math.min(from, to))]
    return html`<rect class="s${number}" x="${round(AREA.left + (index + GAP / 2) * width)}" y="${round(top)}" width="${round(width * (1 - GAP))}" height="${round(Math.max(bottom - top, 0.5))}"/>`
  }
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-name ${id}-about">
<title id="${id}-name">${title}</title>
<desc id="${id}-about">${description} The table below has the numbers.</desc>
${scale.ticks.map(
  (
    tick,
  ) => html`<line class="${tick === 0 ? 'zero' : 'grid'}" x1="${AREA.left}" x2="${AREA.right}" y1="${round(scale.y(tick))}" y2="${round(scale.y(tick))}"/>
<text class="tick" x="${AREA.left - 6}" y="${round(scale.y(tick) + 4)}" text-anchor="end">${formatTick(tick)}</text>`,
)}
${days.map(
  (day, index) => html`<g><title>${dateOf(day)}: ${valuesOf(series, index)}</title>
<rect class="day" x="${round(AREA.left + index * width)}" y="${AREA.top}" width="${round(width)}" height="${AREA.bottom - AREA.top}"/>
${bars[index]!.map((part) => rect(index, part))}</g>
${
  isDated(index)
    ? html`<text class="tick" x="${round(AREA.left + (index + 0.5) * width)}" y="${HEIGHT - 8}" text-anchor="${index === days.length - 1 ? 'end' : 'middle'}">${dateOf(day)}</text>`
    : ''
}`,
)}
</svg>`
}

const legend = (series: readonly Series[]) =>
  html`<ul class="legend">${series.map(({ name }, index) => html`<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="s${index}" width="10" height="10"/></svg> ${name}</li>`)}</ul>`

/** A figure: heading, picture, legend where there is more than one part, and the table. */
export const plot = (parts: PlotParts): Html => html`<figure class="card">
<figcaption><h2 id="${parts.id}">${parts.title}</h2>
<p class="quiet">${parts.description}</p></figcaption>
${drawing(parts)}
${parts.series.length > 1 ? legend(parts.series) : ''}
<details><summary>Table of ${parts.title.toLowerCase()}</summary>
<div class="scroll" role="region" aria-labelledby="${parts.id}" tabindex="0"><table>
<thead><tr><th scope="col">Day (UTC)</th>${parts.series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${parts.days
  .map(
    (
      day,
      index,
    ) => html`<tr><th scope="row">${day}</th>${parts.series.map(({ textOf }) => html`<td class="number">${textOf(index)}</td>`)}</tr>
`,
  )
  .reverse()}</tbody>
</table></div></details>
</figure>`
