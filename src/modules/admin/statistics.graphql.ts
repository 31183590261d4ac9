import { builder, decimal, optionalTime, shortText } from '../../graphql/builder.ts'
import { atMost } from '../../graphql/limits/document-cost.ts'
import { type DayStatistics, MAX_DAYS, readStatistics, type Statistics } from './statistics.ts'

const DayFiguresType = builder.objectRef<DayStatistics>('DayFigures').implement({
  description: 'Statistics of one day.',
  fields: (t) => ({
    day: t.exposeString('day', shortText(10, 'The day in UTC, as in `2026-11-22`.')),
    revenueNum: t.expose('revenueNum', decimal('Revenue in NUM: fees and sales shares, minus refunds.')),
    revenuePoints: t.expose('revenuePoints', decimal('Revenue in points: fees and sales shares, minus refunds.')),
    ordersMade: t.exposeInt('ordersMade', { description: 'Number of orders created on this day.' }),
    ordersPaid: t.exposeInt('ordersPaid', { description: 'Number of orders paid on this day.' }),
    refunds: t.exposeInt('refunds', { description: 'Number of refunds on this day.' }),
    commits: t.exposeInt('commits', { description: 'Number of commits accepted on this day.' }),
    lagP50: t.exposeInt('lagP50', {
      nullable: true,
      description:
        'Median time from acceptance to finality, in milliseconds, of the commits that became final on this day. The maximum is 2147483647. Null when no commit became final.',
    }),
    lagP95: t.exposeInt('lagP95', {
      nullable: true,
      description:
        '95th percentile of the time from acceptance to finality, in milliseconds. Null when no commit became final.',
    }),
    delivered: t.exposeInt('delivered', {
      description: 'Number of webhook deliveries created on this day that the receiver accepted.',
    }),
    pending: t.exposeInt('pending', {
      description: 'Number of webhook deliveries created on this day that will be retried.',
    }),
    givenUp: t.exposeInt('givenUp', {
      description: 'Number of webhook deliveries created on this day that failed permanently.',
    }),
    signUps: t.exposeInt('signUps', { description: 'Number of accounts created on this day.' }),
  }),
})

const FiguresType = builder.objectRef<Statistics>('Figures').implement({
  description: 'Statistics of the service, for administrators.',
  fields: (t) => ({
    days: t.expose('days', {
      ...atMost(MAX_DAYS),
      type: [DayFiguresType],
      description: 'Statistics per day in UTC, oldest first. The last day is today.',
    }),
    waitingCommits: t.exposeInt('waitingCommits', { description: 'Number of commits that are not in a block yet.' }),
    oldestWaitingCommitAt: t.expose(
      'oldestWaitingCommitAt',
      optionalTime('Acceptance time of the oldest waiting commit. Null when no commit waits.'),
    ),
    waitingDeliveries: t.exposeInt('waitingDeliveries', {
      description: 'Number of webhook deliveries that will be retried.',
    }),
  }),
})

builder.queryField('figures', (t) =>
  t.field({
    type: FiguresType,
    description: 'Statistics of the service per day. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
    args: {
      days: t.arg.int({ required: true, description: `Number of days including today, from 1 to ${MAX_DAYS}.` }),
    },
    resolve: (_root, { days }, context) => readStatistics(context, days),
  }),
)
