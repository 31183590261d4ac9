/** The overview page for administrators: statistics by day, and the backlog. */
import { html } from 'hono/html'
import type { AdminOverviewQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type AdminRequest, type AdminRoute, pageAt } from './admin-page.ts'
import { heading, moment } from './components.ts'

/** A data series of a bar chart: one segment of each bar. Segments are stacked from the bottom. */
export interface Series {
  name: string
  /** Returns the length of a day's segment, or null if the day has no value. */
  lengthOf: (index: number) => number | null
  /** Returns the text of a day in the table below the chart. */
  textOf: (index: number) => string
}

export interface PlotParts {
  /** HTML element ID of the chart, unique in the page. */
  id: string
  title: string
  /** One sentence that describes the chart. */
  description: string
  /** Days in the format `2026-11-22`, oldest first. */
  days: readonly string[]
  series: readonly Series[]
  /** True if the axis shows only whole numbers. */
  isCount?: boolean
  /** Formats a label of the axis. */
  formatTick: (value: number) => string
}

const WIDTH = 400
const HEIGHT = 200
const AREA = { left: 46, right: 396, top: 10, bottom: 174 } as const
const MAX_TICKS = 4
const MAX_DATES = 5
const GAP = 0.25

/** Rounds a number up to 1, 2 or 5 times a power of ten, for the steps of an axis. */
function niceStep(span: number): number {
  const raw = span / MAX_TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  return ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power
}

interface Scale {
  ticks: number[]
  /** Returns the vertical position of a value, in units of the SVG. */
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

/** Rounds a coordinate or a length in the drawing. */
const round = (value: number) => Number(value.toFixed(2))

// The date formatter is reused, because creating a formatter is slow.
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
/** Formats `2026-11-22` as `22 Nov`. */
const dateOf = (day: string) => dates.format(new Date(`${day}T00:00:00Z`))

interface Part {
  from: number
  to: number
  series: number
}

/** Returns the segments of a bar. Positive values are stacked upwards from zero, negative ones downwards. */
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
  const every = Math.ceil(days.length / MAX_DATES)
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

/** Renders a bar chart with heading, SVG and table. A chart with several series also has a legend. */
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

const Overview = graphql(/* GraphQL */ `
  query AdminOverview($days: Int!) {
    pricing { currency }
    figures(days: $days) {
      waitingCommits oldestWaitingCommitAt waitingDeliveries
      days {
        day revenueNum revenuePoints ordersMade ordersPaid refunds commits lagP50 lagP95 delivered pending
        givenUp signUps
      }
    }
  }
`)

type Day = AdminOverviewQuery['figures']['days'][number]

const periods = [7, 30] as const
const DEFAULT_DAYS = 30

const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 3 })
const formatTick = (value: number) => compact.format(value)
const seconds = (milliseconds: number | null) =>
  milliseconds === null ? '–' : `${compact.format(milliseconds / 1_000)} s`

const daysOf = ({ query }: AdminRequest) => periods.find((days) => String(days) === query.get('days')) ?? DEFAULT_DAYS

const periodLinks = (current: number): Html => html`<nav aria-label="Period"><p>Show
${periods.map((days) => html`<a href="/admin?days=${days}"${days === current ? html` aria-current="true"` : ''}>${days} days</a> `)}</p></nav>`

function plots(days: readonly Day[], currency: string): Html {
  const at = (index: number) => days[index]!
  const counted = (
    name: string,
    field: 'ordersPaid' | 'refunds' | 'commits' | 'delivered' | 'pending' | 'givenUp' | 'signUps' | 'ordersMade',
  ) => ({ name, lengthOf: (index: number) => at(index)[field], textOf: (index: number) => String(at(index)[field]) })
  // The bars of the chart use floating-point numbers. The table shows the exact amounts.
  const earned = (name: string, field: 'revenueNum' | 'revenuePoints') => ({
    name,
    lengthOf: (index: number) => Number(at(index)[field]),
    textOf: (index: number) => at(index)[field],
  })
  const common = { days: days.map(({ day }) => day), formatTick }
  return html`<div class="plots">
${plot({ ...common, id: 'revenue', title: 'Revenue', description: 'Fees and shares of sales, minus refunds.', series: [earned(currency, 'revenueNum'), earned('Points', 'revenuePoints')] })}
${plot({ ...common, isCount: true, id: 'orders', title: 'Orders', description: 'Paid orders and refunds per day.', series: [counted('Paid', 'ordersPaid'), counted('Refunds', 'refunds')] })}
${plot({ ...common, isCount: true, id: 'commits', title: 'Commits', description: 'Accepted commits per day.', series: [counted('Accepted', 'commits')] })}
${plot({
  ...common,
  id: 'lag',
  title: 'Relay lag',
  description: 'Seconds from acceptance until a commit is final on the chain. The full bar is the 95th percentile.',
  series: [
    {
      name: 'Median',
      lengthOf: (index) => (at(index).lagP50 ?? 0) / 1_000,
      textOf: (index) => seconds(at(index).lagP50),
    },
    {
      name: '95th percentile',
      lengthOf: (index) => ((at(index).lagP95 ?? 0) - (at(index).lagP50 ?? 0)) / 1_000,
      textOf: (index) => seconds(at(index).lagP95),
    },
  ],
})}
${plot({ ...common, isCount: true, id: 'webhooks', title: 'Webhook outcomes', description: 'Deliveries by the day of their creation.', series: [counted('Delivered', 'delivered'), counted('Pending', 'pending'), counted('Failed', 'givenUp')] })}
${plot({ ...common, isCount: true, id: 'sign-ups', title: 'Sign-ups', description: 'New accounts per day.', series: [counted('Accounts', 'signUps')] })}
</div>`
}

const sum = (days: readonly Day[], field: 'ordersPaid' | 'commits' | 'signUps' | 'givenUp') =>
  days.reduce((total, day) => total + day[field], 0)

function tiles({
  days,
  waitingCommits,
  oldestWaitingCommitAt,
  waitingDeliveries,
}: AdminOverviewQuery['figures']): Html {
  return html`<dl class="tiles">
<div><dt>Orders paid</dt><dd>${sum(days, 'ordersPaid')}</dd></div>
<div><dt>Commits</dt><dd>${sum(days, 'commits')}</dd></div>
<div><dt>Sign-ups</dt><dd>${sum(days, 'signUps')}</dd></div>
<div><dt>Commits not in a block yet</dt><dd>${waitingCommits}${oldestWaitingCommitAt ? html`<span class="note">oldest: ${moment(oldestWaitingCommitAt)} UTC</span>` : ''}</dd></div>
<div><dt>Pending webhook deliveries</dt><dd>${waitingDeliveries}</dd></div>
<div><dt>Failed webhook deliveries</dt><dd>${sum(days, 'givenUp')}</dd></div>
</dl>`
}

export const overviewRoutes: AdminRoute[] = [
  pageAt('/admin', async (request) => {
    const days = daysOf(request)
    const { figures, pricing } = await request.run(Overview, { days })
    return {
      title: 'Overview',
      content: html`${heading('Overview', { request })}
${periodLinks(days)}
${tiles(figures)}
${plots(figures.days, pricing.currency)}`,
    }
  }),
]
