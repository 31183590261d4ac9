import { type Mutant, mutantsOf } from './mutant.ts'

export const delivery: Mutant[] = [
  ...mutantsOf(
    'src/domain/store/delivery-service.ts',
    ['delivery/deliveries.test.ts'],
    [
      [
        'delivery.test-ends',
        'Nothing follows from a test event.',
        `if (due.type === 'webhook.test') return recordTest(facts)`,
        ``,
      ],
      [
        'delivery.withholds',
        'The log never shows the arguments of an order.',
        `? {} : WITHHELD`,
        `? {} : event.action_args`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/delivery-service.ts',
    ['platform/poisoned-jobs.test.ts'],
    [
      [
        'delivery.unwritten',
        'A receiver is not called again for what could not be written down.',
        `kept?.before === before ? kept.outcome : undefined`,
        `undefined`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/jobs.ts',
    ['platform/poisoned-jobs.test.ts'],
    [
      [
        'delivery.outlasts-outages',
        'No delivery is given up, nor its order refunded, because the database takes nothing.',
        `outlastsOutages.includes(queue) && isUnavailable(error)`,
        `false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/jobs.ts',
    ['delivery/long-stop.test.ts'],
    [
      [
        'delivery.long-stop',
        'What is owed is done however long the service stood still.',
        'const KEPT_OWED_SECONDS = 3_650 * DAY_SECONDS',
        'const KEPT_OWED_SECONDS = 14 * DAY_SECONDS',
      ],
      [
        'delivery.long-stop-of-earlier-versions',
        'So is what an earlier version put on a queue.',
        '  await boss.getDb().executeSql(keepWaiting)\n',
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/webhook-schedule.ts',
    ['delivery/webhook-schedule.test.ts'],
    [
      ['delivery.first-pause', 'The second attempt comes 5 s after the first.', `[5, 300,`, `[50, 300,`],
      ['delivery.jitter', 'Pauses vary by a fifth.', `const JITTER = 0.2`, `const JITTER = 0.4`],
      ['delivery.gone', 'A receiver that is gone is not called again.', `statusCode === 410`, `statusCode === 404`],
      ['delivery.busy', 'A busy receiver is heeded.', `statusCode === 429 || statusCode === 503`, `statusCode === 503`],
      [
        'delivery.longest-wait',
        'A receiver puts us off for a day at most.',
        `Math.min(retryAfter, LONGEST_WAIT_SECONDS)`,
        `Math.min(retryAfter, Infinity)`,
      ],
      ['delivery.no-wait', 'A receiver never hurries us.', `Math.max(planned,`, `Math.min(planned,`],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/internal-address.ts',
    ['delivery/webhook-sender.test.ts', 'delivery/webhook-url.test.ts'],
    [
      [
        'delivery.mapped-address',
        'An internal address stays internal when it is written as IPv6.',
        `!address.match(GLOBAL_IPV6) || address.range() !== 'unicast'`,
        `address.range() === 'loopback'`,
      ],
      ['delivery.cloud', 'The metadata of clouds is internal.', ` || CLOUD.has(address.toString())`, ''],
      [
        'delivery.short-name',
        'A name without a dot is internal.',
        `!name.includes('.') || INTERNAL_NAME`,
        `INTERNAL_NAME`,
      ],
      [
        'delivery.trailing-dot',
        'A trailing dot changes nothing.',
        `trimEnd(host.replace(/^\\[(.*)\\]$/, '$1'), '.')`,
        `host.replace(/^\\[(.*)\\]$/, '$1')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/delivery/webhook-sender.ts',
    ['delivery/webhook-sender.test.ts'],
    [
      [
        'delivery.plain-http',
        'Secrets go over https only.',
        `if (!allowInsecure && url.protocol !== 'https:') return`,
        `if (!allowInsecure && url.protocol === 'ftp:') return`,
      ],
      [
        'delivery.excerpt',
        '1,000 characters of an answer are kept.',
        `const MAX_EXCERPT = 1_000`,
        `const MAX_EXCERPT = 10_000`,
      ],
      [
        'delivery.response-size',
        '64 KiB of an answer are read.',
        `const MAX_RESPONSE_BYTES = 64 * 1024`,
        `const MAX_RESPONSE_BYTES = 640 * 1024`,
      ],
      [
        'delivery.one-signature',
        'During a rotation both secrets sign.',
        `secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ')`,
        `new Webhook(secrets[0]!).sign(id, at, body)`,
      ],
      [
        'delivery.kept-secret',
        'An answer that repeats a secret is kept without it.',
        `[secret, JSON.stringify(secret).slice(1, -1)]`,
        `[JSON.stringify([secret])]`,
      ],
      [
        'delivery.cut-secret',
        'An answer that breaks off in a secret is kept without its beginning.',
        ` || isCut(form)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/delivery-statements.ts',
    ['delivery/deliveries.test.ts'],
    [
      [
        'delivery.attempt-once',
        'Of two workers with one delivery, one records its attempt.',
        `and d.status = 'PENDING' and d.attempt_count = $before for update of d`,
        `and d.status = 'PENDING' for update of d`,
      ],
      [
        'delivery.replay-refunded',
        'The webhook of a refunded order is not called again.',
        `where \${isTellableSql} and`,
        `where`,
      ],
      [
        'delivery.replay-serves',
        'An order that had failed succeeds when its replay is taken.',
        `and o.status in ('PENDING', 'FAILURE') returning o.id`,
        `and o.status in ('PENDING') returning o.id`,
      ],
      [
        'delivery.refund-serves-nothing',
        'A receiver that takes the news of a refund does not serve the order.',
        `settled_delivery.event_type = 'order.paid'
       and o.status in`,
        `o.status in`,
      ],
      [
        'delivery.refunded-is-not-paid',
        'The payment of an order that was given back is not told any more.',
        `or (o.status <> 'REFUNDED' and o.action_args_erased_at is null))`,
        `or o.action_args_erased_at is null)`,
      ],
      [
        'delivery.old-secret',
        'An old secret signs only as long as its rotation lasts.',
        `case when a.previous_secret_expires_at > now() then a.previous_secret end`,
        `a.previous_secret`,
      ],
      [
        'delivery.refund-policy',
        'Money goes back only where the app says so.',
        `case a.delivery_failure_policy when 'REFUND' then 'REFUNDED' else 'FAILURE' end::order_status`,
        `case a.delivery_failure_policy when 'KEEP' then 'REFUNDED' else 'FAILURE' end::order_status`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/refund-sql.ts',
    ['delivery/deliveries.test.ts', 'rest/refunds.test.ts'],
    [
      [
        'delivery.refund-spent',
        'What the seller has spent already comes from the platform.',
        `points = greatest(w.points + changes.points, \${overdueSql('w')})`,
        `points = w.points + changes.points`,
      ],
      [
        'delivery.refund-entries',
        'The platform’s share is given back with the rest.',
        `union all select null, 'REVENUE', 'NUM', -num_share from split`,
        `union all select null, 'REVENUE', 'NUM', num_share from split`,
      ],
      [
        'delivery.refund-in-proportion',
        'The platform gives back its share of what is given back, not of all.',
        `(\${amount}) / nullif`,
        `0 * (\${amount}) / nullif`,
      ],
    ],
  ),
]
