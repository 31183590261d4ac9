/** The overview page: statistics by day, and the backlog. */
import { html } from 'hono/html'
import type { AdminOverviewQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type AdminRequest, type AdminRoute, pageAt } from './admin-page.ts'
import { plot } from './charts.ts'
import { heading, moment } from './components.ts'

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

const spans = [7, 30] as const
const DEFAULT_SPAN = 30

const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 3 })
const formatTick = (value: number) => compact.format(value)
const seconds = (milliseconds: number | null) =>
  milliseconds === null ? '–' : `${compact.format(milliseconds / 1_000)} s`

const spanOf = ({ query }: AdminRequest) => spans.find((days) => String(days) === query.get('days')) ?? DEFAULT_SPAN

const spanLinks = (current: number): Html => html`<nav aria-label="Span"><p>Show
${spans.map((days) => html`<a href="/admin?days=${days}"${days === current ? html` aria-current="true"` : ''}>${days} days</a> `)}</p></nav>`

function plots(days: readonly Day[], currency: string): Html {
  const at = (index: number) => days[index]!
  const counted = (
    name: string,
    field: 'ordersPaid' | 'refunds' | 'commits' | 'delivered' | 'pending' | 'givenUp' | 'signUps' | 'ordersMade',
  ) => ({
    name,
    lengthOf: (index: number) => at(index)[field],
    textOf: (index: number) => String(at(index)[field]),
  })
  // Bars are drawn from rounded numbers. The table shows the exact amounts.
  const earned = (name: string, field: 'revenueNum' | 'revenuePoints') => ({
    name,
    lengthOf: (index: number) => Number(at(index)[field]),
    textOf: (index: number) => at(index)[field],
  })
  const common = { days: days.map(({ day }) => day), formatTick }
  return html`<div class="plots">
${plot({ ...common, id: 'revenue', title: 'Revenue', description: 'Fees and shares of sales, less what was given back.', series: [earned(currency, 'revenueNum'), earned('Points', 'revenuePoints')] })}
${plot({ ...common, isCount: true, id: 'orders', title: 'Orders', description: 'Paid on each day, and refunds that were made.', series: [counted('Paid', 'ordersPaid'), counted('Refunds', 'refunds')] })}
${plot({ ...common, isCount: true, id: 'commits', title: 'Commits', description: 'Accepted on each day.', series: [counted('Accepted', 'commits')] })}
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
${plot({ ...common, isCount: true, id: 'webhooks', title: 'Webhook outcomes', description: 'Deliveries by the day of their creation.', series: [counted('Delivered', 'delivered'), counted('Still tried', 'pending'), counted('Given up', 'givenUp')] })}
${plot({ ...common, isCount: true, id: 'sign-ups', title: 'Sign-ups', description: 'Accounts that were made.', series: [counted('Accounts', 'signUps')] })}
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
<div><dt>Commits on their way now</dt><dd>${waitingCommits}${oldestWaitingCommitAt ? html`<span class="note">the oldest since ${moment(oldestWaitingCommitAt)} UTC</span>` : ''}</dd></div>
<div><dt>Webhook calls due now</dt><dd>${waitingDeliveries}</dd></div>
<div><dt>Failed webhook deliveries</dt><dd>${sum(days, 'givenUp')}</dd></div>
</dl>`
}

export const overviewRoutes: AdminRoute[] = [
  pageAt('/admin', async (request) => {
    const days = spanOf(request)
    const { figures, pricing } = await request.run(Overview, { days })
    return {
      title: 'Overview',
      content: html`${heading('Overview', { request })}
${spanLinks(days)}
${tiles(figures)}
${plots(figures.days, pricing.currency)}`,
    }
  }),
]
