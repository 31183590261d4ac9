import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['platform/retention.test.ts']
const SWEEPS = ['platform/sweeps.test.ts']

export const retention: Mutant[] = [
  ...mutantsOf('src/domain/retention/retention-statements.ts', TESTS, [
    [
      'retention.from-the-front',
      'A feed is forgotten from its front on: behind what has to stay nothing goes.',
      `k.owner_id = r.owner_id and k.sequence <= r.sequence`,
      `k.owner_id = r.owner_id and k.sequence = r.sequence`,
    ],
    [
      'retention.one-feed',
      'What has to stay in one feed holds up no other.',
      `k.owner_id = r.owner_id and k.sequence <= r.sequence`,
      `k.sequence <= r.sequence`,
    ],
    [
      'retention.in-time',
      'What goes by age stays for as many days as are configured.',
      `make_interval(days => $days)`,
      `make_interval(days => $days - 1)`,
    ],
    [
      'retention.sessions-in-use',
      'A session that is used goes on, however old it is.',
      `greatest(r.created_at, r.last_used_at) < \${beforeSql}\``,
      `r.created_at < \${beforeSql}\``,
    ],
    [
      'retention.attempts-go',
      'The attempts of a call are forgotten with it.',
      `delete from webhook_attempts a using over_rows where a.delivery_id = over_rows.id`,
      `delete from webhook_attempts a using over_rows where a.delivery_id <> over_rows.id`,
    ],
    [
      'retention.keys-in-time',
      'A key that makes repeating safe is known for as many days as are configured.',
      `isOver: \`r.created_at < \${beforeSql}\``,
      `isOver: \`r.created_at < now()\``,
    ],
  ]),
  ...mutantsOf('src/domain/retention/aged-rows.ts', SWEEPS, [
    [
      'retention.rests',
      'A row that cannot be deleted is not tried at every turn.',
      ` and \${isAwakeSql(sweep, item)}`,
      '',
    ],
  ]),
  ...mutantsOf('src/domain/retention/retention.ts', TESTS, [
    [
      'retention.calls-first',
      'Calls are forgotten before the events that they tell, so that both go in one turn.',
      `  agedSweep(oldDeliveries, eventDays),
  agedSweep(oldEvents, eventDays),`,
      `  agedSweep(oldEvents, eventDays),
  agedSweep(oldDeliveries, eventDays),`,
    ],
    [
      'retention.every-table',
      'Of every table it is said how long it is kept.',
      `  webhook_attempts: {`,
      `  attempts: {`,
    ],
  ]),
  ...mutantsOf('src/domain/retention/kept-from.ts', TESTS, [
    [
      'retention.known-from-when',
      'What may be forgotten is remembered, so that the books are not doubted for it.',
      `select \${KEY}, (\${moment})::text from over_rows limit 1`,
      `select \${KEY}, (\${moment})::text from over_rows limit 0`,
    ],
  ]),
  ...mutantsOf('src/domain/invariants/account-invariants.ts', TESTS, [
    [
      'retention.gap-found',
      'A position that is missing in the middle of a feed is found.',
      `count(e.id) <> w.event_sequence - coalesce(min(e.sequence) - 1, w.event_sequence)`,
      `count(e.id) > w.event_sequence - coalesce(min(e.sequence) - 1, w.event_sequence)`,
    ],
  ]),
  ...mutantsOf('src/domain/maintenance.ts', TESTS, [
    [
      'retention.overdue-told',
      'Operators see for how long something is due.',
      `{ eventDays: retention.eventDays,`,
      `{ eventDays: retention.eventDays + 1_000,`,
    ],
  ]),
  ...mutantsOf('src/domain/sweep/sweeper.ts', TESTS, [
    [
      'retention.swept-told',
      'Operators see what sweeps did.',
      `meter.swept(sweep.name, done.length)`,
      `meter.swept(sweep.name, 0)`,
    ],
  ]),
]
