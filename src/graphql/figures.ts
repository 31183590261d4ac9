import { type Figures, MOST_DAYS } from '../domain/figures/figure-service.ts'
import type { DayFigures } from '../domain/figures/figure-statements.ts'
import { builder } from './builder.ts'
import { atMost, characters } from './sizes.ts'

const DayFiguresType = builder.objectRef<DayFigures>('DayFigures').implement({
  description: 'What happened on one day.',
  fields: (t) => ({
    day: t.exposeString('day', { ...characters(10), description: 'The day in UTC, as in `2026-11-22`.' }),
    revenueNum: t.expose('revenueNum', {
      type: 'Decimal',
      description: 'What the platform earned in currency units: fees and shares of sales, less what it gave back.',
    }),
    revenuePoints: t.expose('revenuePoints', { type: 'Decimal', description: 'The same in points.' }),
    ordersMade: t.exposeInt('ordersMade', { description: 'Orders that were made.' }),
    ordersPaid: t.exposeInt('ordersPaid', { description: 'Orders that were paid.' }),
    refunds: t.exposeInt('refunds', { description: 'Refunds of orders.' }),
    commits: t.exposeInt('commits', { description: 'Commits that were accepted.' }),
    lagP50: t.exposeInt('lagP50', {
      nullable: true,
      description:
        'Median time from acceptance to final, in milliseconds, to within 3 % (2147483647: that or longer, some 25 days), of the commits that became final; null when none did.',
    }),
    lagP95: t.exposeInt('lagP95', {
      nullable: true,
      description: 'The 95th percentile of that time, told alike; null when none became final.',
    }),
    delivered: t.exposeInt('delivered', { description: 'Webhook deliveries of that day which the receiver took.' }),
    pending: t.exposeInt('pending', { description: 'Webhook deliveries of that day which are still tried.' }),
    givenUp: t.exposeInt('givenUp', { description: 'Webhook deliveries of that day which were given up.' }),
    signUps: t.exposeInt('signUps', { description: 'Accounts that were made.' }),
  }),
})

const FiguresType = builder.objectRef<Figures>('Figures').implement({
  description: 'How the service does. Administrators see it.',
  fields: (t) => ({
    days: t.field({
      ...atMost(MOST_DAYS),
      type: [DayFiguresType],
      description: 'Each day, the oldest first; the last one is today.',
      resolve: ({ days }) => days,
    }),
    waitingCommits: t.exposeInt('waitingCommits', { description: 'Commits that are not on the chain yet.' }),
    oldestWaitingCommitAt: t.expose('oldestWaitingCommitAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest of them was accepted; null when none waits.',
    }),
    waitingDeliveries: t.exposeInt('waitingDeliveries', { description: 'Webhook deliveries that are still tried.' }),
  }),
})

builder.queryField('figures', (t) =>
  t.field({
    type: FiguresType,
    description: 'How the service does, day by day. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
    args: {
      days: t.arg.int({ required: true, description: `How many days, today included: 1 to ${MOST_DAYS}.` }),
    },
    resolve: (_root, { days }, { actor, services }) => services.figures.read(actor, days),
  }),
)
