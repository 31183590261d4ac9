import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['processes/plans.processes.ts']

export const growth: Mutant[] = [
  ...mutantsOf('prisma/migrations/20261122203500_find_what_is_rare/migration.sql', TESTS, [
    [
      'growth.failed',
      'What failed on its way to the chain is found among all that came there.',
      `CREATE INDEX IF NOT EXISTS "commit_relays_failed_idx" ON "commit_relays" ("commit_id") WHERE "status" = 'FAILED';\n`,
      ``,
    ],
    [
      'growth.names',
      'A name is found by its beginning among all names.',
      `CREATE INDEX IF NOT EXISTS "users_username_prefix_idx" ON "users" ("username_key" text_pattern_ops) WHERE "deleted_at" IS NULL;\n`,
      ``,
    ],
  ]),
  ...mutantsOf('prisma/migrations/20261122090519_index_orders_by_time/migration.sql', TESTS, [
    [
      'growth.sales',
      'The newest sales are found among all.',
      `CREATE INDEX "orders_created_at_id_idx" ON "orders"("created_at" DESC, "id" DESC);`,
      ``,
    ],
  ]),
  ...mutantsOf('src/domain/asset/open-relays-sql.ts', TESTS, [
    [
      'growth.open',
      'What is under way to the chain is found among all that came there.',
      `where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`,
      `where status <> 'FINAL' and lane is not null`,
    ],
  ]),
  ...mutantsOf('src/domain/account/lock-statements.ts', TESTS, [
    [
      'growth.by-name',
      'An account is found by its name among all.',
      `or ($user is null and $name not like '%@%' and username_key = username_key($name))`,
      `or ($user is null and $name not like '%@%' and lower(username) = lower($name))`,
    ],
  ]),
  ...mutantsOf(
    'src/chain/foreign/statements.ts',
    ['platform/unread-pasts.test.ts'],
    [
      [
        'growth.unread-pasts',
        'A few of the files that wait are found without a look at all.',
        `order by next_attempt_at limit $limit`,
        `order by next_attempt_at, nid limit $limit`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/job-indexes.ts',
    ['platform/dead-letters.test.ts'],
    [
      [
        'growth.addressed-letters',
        'Dead letters of an account are found among all.',
        `columns: \`(data->>'userId')\``,
        `columns: \`(data->>'orderId')\``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/job-statements.ts',
    ['platform/dead-letters.test.ts'],
    [
      [
        'growth.unredacted-letters',
        'Letters are redacted in the order of an index.',
        'order by j.id limit $2',
        'order by id limit $2',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/telemetry/metric-statements.ts',
    ['platform/dead-letters.test.ts'],
    [
      [
        'growth.waiting-jobs',
        'What waits is counted without what was given up.',
        `from jobs.job j where j.name = q.name and j.state < 'active' and not j.blocked group by state`,
        `from jobs.job j where j.name = q.name and j.state < 'completed' group by state`,
      ],
    ],
  ),
]
