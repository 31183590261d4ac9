/** The overview page for administrators: statistics by day, and the backlog. */
import { html } from 'hono/html'
import type { AdminOverviewQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type AdminRoute, pageAt } from './admin-page.ts'
import { formatTime, heading } from './components.ts'

/** A data series of a bar chart: one segment of each bar. Segments are stacked from the zero line. */
interface Series {
  name: string
  /** Returns the length of a day's segment, or null if the day has no value. */
  lengthOf: (day: Day) => number | null
  /** Returns the text of a day in the table below the chart. */
  textOf: (day: Day) => string
}

interface Plot {
  /** HTML element ID of the chart, unique in the page. */
  id: string
  title: string
  /** One sentence that describes the chart. */
  description: string
  series: readonly Series[]
}

const Overview = graphql(/* GraphQL */ `
  query AdminOverview($days: Int!) {
    pricing { currency }
    figures(days: $days) {
      waitingCommits oldestWaitingCommitAt waitingDeliveries
      days {
        day revenueNum revenuePoints ordersPaid refunds commits lagP50 lagP95 delivered pending givenUp signUps
      }
    }
  }
`)

type Day = AdminOverviewQuery['figures']['days'][number]
type Count = 'ordersPaid' | 'refunds' | 'commits' | 'delivered' | 'pending' | 'givenUp' | 'signUps'

const WIDTH = 400
const HEIGHT = 200
const AREA = { left: 46, right: 396, top: 10, bottom: 174 } as const
/** Share of a day's width that separates two bars. */
const GAP = 0.25
/** Minimum distance between labels of the axis, in units of the SVG. */
const LABEL_HEIGHT = 14

const round = (value: number) => Number(value.toFixed(2))
const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 3 })
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
/** Formats `2026-11-22` as `22 Nov`. */
const dateOf = ({ day }: Day) => dates.format(new Date(`${day}T00:00:00Z`))

/** Returns the segments of a bar. Positive values are stacked upwards from zero, negative values downwards. */
function segmentsOf(series: readonly Series[], day: Day) {
  let [above, below] = [0, 0]
  return series.map(({ lengthOf }) => {
    const value = lengthOf(day) ?? 0
    const from = value > 0 ? above : below
    if (value > 0) above += value
    else below += value
    return { from, to: from + value }
  })
}

function drawing({ id, title, description, series }: Plot, days: readonly Day[]): Html {
  const bars = days.map((day) => segmentsOf(series, day))
  const ends = bars.flat().map(({ to }) => to)
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)]
  const y = (value: number) => round(AREA.bottom - ((value - low) / (high - low || 1)) * (AREA.bottom - AREA.top))
  const labels = [0, ...[low, high].filter((value) => Math.abs(y(value) - y(0)) > LABEL_HEIGHT)]
  const width = (AREA.right - AREA.left) / days.length
  const x = (index: number) => round(AREA.left + index * width)
  const segment = (index: number, series: number, { from, to }: { from: number; to: number }) =>
    html`<rect class="s${series}" x="${x(index + GAP / 2)}" y="${y(Math.max(from, to))}" width="${round(width * (1 - GAP))}" height="${round(Math.abs(y(from) - y(to)))}"/>`
  const valuesOf = (day: Day) => series.map(({ name, textOf }) => `${name} ${textOf(day)}`).join(', ')
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-name ${id}-about">
<title id="${id}-name">${title}</title>
<desc id="${id}-about">${description} The table below has the numbers.</desc>
${labels.map(
  (value) => html`<line class="grid" x1="${AREA.left}" x2="${AREA.right}" y1="${y(value)}" y2="${y(value)}"/>
<text class="tick" x="${AREA.left - 6}" y="${y(value) + 4}" text-anchor="end">${compact.format(value)}</text>`,
)}
${days.map(
  (day, index) => html`<g><title>${dateOf(day)}: ${valuesOf(day)}</title>
<rect class="day" x="${x(index)}" y="${AREA.top}" width="${round(width)}" height="${AREA.bottom - AREA.top}"/>
${bars[index]!.map((part, number) => segment(index, number, part))}</g>`,
)}
<text class="tick" x="${AREA.left}" y="${HEIGHT - 8}">${dateOf(days[0]!)}</text>
<text class="tick" x="${AREA.right}" y="${HEIGHT - 8}" text-anchor="end">${dateOf(days.at(-1)!)}</text>
</svg>`
}

const legend = (series: readonly Series[]) =>
  html`<ul class="legend">${series.map(({ name }, index) => html`<li><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="s${index}" width="10" height="10"/></svg> ${name}</li>`)}</ul>`

/** Renders a bar chart with heading, SVG and table. A chart with several series also has a legend. */
const renderPlot = (plot: Plot, days: readonly Day[]): Html => html`<figure class="card">
<figcaption><h2 id="${plot.id}">${plot.title}</h2>
<p class="quiet">${plot.description}</p></figcaption>
${drawing(plot, days)}
${plot.series.length > 1 ? legend(plot.series) : ''}
<details><summary>Table of ${plot.title.toLowerCase()}</summary>
<div class="scroll" role="region" aria-labelledby="${plot.id}" tabindex="0"><table>
<thead><tr><th scope="col">Day (UTC)</th>${plot.series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${days.toReversed().map(
  (
    day,
  ) => html`<tr><th scope="row">${day.day}</th>${plot.series.map(({ textOf }) => html`<td class="number">${textOf(day)}</td>`)}</tr>
`,
)}</tbody>
</table></div></details>
</figure>`

const seconds = (milliseconds: number | null) =>
  milliseconds === null ? '–' : `${compact.format(milliseconds / 1_000)} s`

const counted = (name: string, field: Count): Series => ({
  name,
  lengthOf: (day) => day[field],
  textOf: (day) => String(day[field]),
})

/** The bars of the chart use floating-point numbers. The table shows the exact amounts. */
const earned = (name: string, field: 'revenueNum' | 'revenuePoints'): Series => ({
  name,
  lengthOf: (day) => Number(day[field]),
  textOf: (day) => day[field],
})

const plotsOf = (currency: string): Plot[] => [
  {
    ...{ id: 'revenue', title: 'Revenue', description: 'Fees and shares of sales, minus refunds.' },
    series: [earned(currency, 'revenueNum'), earned('Points', 'revenuePoints')],
  },
  {
    ...{ id: 'orders', title: 'Orders', description: 'Paid orders and refunds per day.' },
    series: [counted('Paid', 'ordersPaid'), counted('Refunds', 'refunds')],
  },
  {
    ...{ id: 'commits', title: 'Commits', description: 'Accepted commits per day.' },
    series: [counted('Accepted', 'commits')],
  },
  {
    ...{ id: 'lag', title: 'Relay lag' },
    description: 'Seconds from acceptance until a commit is final on the chain. The full bar is the 95th percentile.',
    series: [
      { name: 'Median', lengthOf: ({ lagP50 }) => (lagP50 ?? 0) / 1_000, textOf: ({ lagP50 }) => seconds(lagP50) },
      {
        name: '95th percentile',
        lengthOf: ({ lagP50, lagP95 }) => ((lagP95 ?? 0) - (lagP50 ?? 0)) / 1_000,
        textOf: ({ lagP95 }) => seconds(lagP95),
      },
    ],
  },
  {
    ...{ id: 'webhooks', title: 'Webhook outcomes', description: 'Deliveries by the day of their creation.' },
    series: [counted('Delivered', 'delivered'), counted('Pending', 'pending'), counted('Failed', 'givenUp')],
  },
  {
    ...{ id: 'sign-ups', title: 'Sign-ups', description: 'New accounts per day.' },
    series: [counted('Accounts', 'signUps')],
  },
]

function tiles({ days, ...figures }: AdminOverviewQuery['figures']): Html {
  const oldest = figures.oldestWaitingCommitAt
  const sum = (field: Count) => days.reduce((total, day) => total + day[field], 0)
  return html`<dl class="tiles">
<div><dt>Orders paid</dt><dd>${sum('ordersPaid')}</dd></div>
<div><dt>Commits</dt><dd>${sum('commits')}</dd></div>
<div><dt>Sign-ups</dt><dd>${sum('signUps')}</dd></div>
<div><dt>Commits not in a block yet</dt><dd>${figures.waitingCommits}${oldest ? html`<span class="note">oldest: ${formatTime(oldest)} UTC</span>` : ''}</dd></div>
<div><dt>Pending webhook deliveries</dt><dd>${figures.waitingDeliveries}</dd></div>
<div><dt>Failed webhook deliveries</dt><dd>${sum('givenUp')}</dd></div>
</dl>`
}

export const overviewRoutes: AdminRoute[] = [
  pageAt('/admin', async (request) => {
    const days = request.query.get('days') === '7' ? 7 : 30
    const { figures, pricing } = await request.run(Overview, { days })
    return {
      title: 'Overview',
      content: html`${heading('Overview', { request })}
<nav aria-label="Period"><p>Show
${[7, 30].map((period) => html`<a href="/admin?days=${period}"${period === days ? html` aria-current="true"` : ''}>${period} days</a> `)}</p></nav>
${tiles(figures)}
<div class="plots">${plotsOf(pricing.currency).map((plot) => renderPlot(plot, figures.days))}</div>`,
    }
  }),
]
