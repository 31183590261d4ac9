import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['domain/deadlines.test.ts']

export const deadlines: Mutant[] = [
  ...mutantsOf('src/domain/store/order-statements.ts', TESTS, [
    [
      'deadlines.pay',
      'An order is not paid at its end.',
      `moment.at < sale.expires_at`,
      `moment.at <= sale.expires_at`,
    ],
    [
      'deadlines.pay-never',
      'An order is not paid after its end.',
      `and moment.at < sale.expires_at`,
      `and moment.at < 'infinity'`,
    ],
    [
      'deadlines.cancel',
      'An order is not withdrawn at its end.',
      `clock_timestamp()::timestamptz(3) < expires_at`,
      `clock_timestamp()::timestamptz(3) <= expires_at`,
    ],
  ]),
  ...mutantsOf('src/domain/store/order-sweep-statements.ts', TESTS, [
    [
      'deadlines.expire-early',
      'An order stays open until its end.',
      `const isOverdueSql = \`status = 'CREATED' and expires_at <= now()\``,
      `const isOverdueSql = \`status = 'CREATED' and expires_at <= now() + interval '1 second'\``,
    ],
    [
      'deadlines.expire-late',
      'An order is over at its end.',
      `const isOverdueSql = \`status = 'CREATED' and expires_at <= now()\``,
      `const isOverdueSql = \`status = 'CREATED' and expires_at < now()\``,
    ],
  ]),
  ...mutantsOf('src/domain/wallet/points-sql.ts', TESTS, [
    [
      'deadlines.points',
      'Points are not spent at their end.',
      `points_expire_at <= \${at} then`,
      `points_expire_at < \${at} then`,
    ],
  ]),
  ...mutantsOf('src/domain/wallet/grant-sweep-statements.ts', TESTS, [
    [
      'deadlines.grant',
      'What is left of a grant is taken back at its end.',
      `and expired_at is null and expires_at <= now()`,
      `and expired_at is null and expires_at < now()`,
    ],
  ]),
  ...mutantsOf('src/domain/account/account-statements.ts', TESTS, [
    [
      'deadlines.session',
      'A session is over at its end.',
      `where (t.expires_at is null or t.expires_at > now())`,
      `where (t.expires_at is null or t.expires_at >= now())`,
    ],
  ]),
  ...mutantsOf('src/domain/limits.ts', TESTS, [
    [
      'deadlines.window',
      'A throttle lets in again at the end of its window.',
      `count = case when l.window_end <= now() then excluded.count`,
      `count = case when l.window_end < now() then excluded.count`,
    ],
    [
      'deadlines.count',
      'A throttle refuses the one that is too many.',
      `if (count > limit.count)`,
      `if (count > limit.count + 1)`,
      ['rest/limits.test.ts', 'rest/emails.test.ts', 'rest/passwords.test.ts'],
    ],
    [
      'deadlines.together',
      'Each of those that are counted by one statement has a count of its own.',
      `(c.count - t.hits + t.turn)::int`,
      `(c.count - t.hits + 1)::int`,
      ['rest/shared-limits.test.ts'],
    ],
    [
      'deadlines.anew',
      'All of those that are counted by one statement count in a window that begins with them.',
      `then excluded.count\n`,
      `then 1\n`,
      ['rest/shared-limits.test.ts'],
    ],
  ]),
  ...mutantsOf(
    'src/domain/account/password-check-statements.ts',
    ['rest/brute-force.test.ts'],
    [
      [
        'deadlines.spellings',
        'Two spellings of one address that are counted together are no failure of the service.',
        `distinct on (key) *`,
        `*`,
      ],
      [
        'deadlines.own-guesses',
        'Nobody uses up the guesses at another account that has the same address.',
        `\`user:\${whose.user}\``,
        `'user'`,
      ],
      [
        'deadlines.guessed-address',
        'What is given as an address uses up no guesses at an account that does not have it.',
        `\`address:\${whose.email}\``,
        `whose.email`,
      ],
      [
        'deadlines.reset-forgets',
        'A reset of the password ends the wait.',
        `takenKeySql(\`'user:' ||`,
        `takenKeySql(\`'address:' ||`,
        ['rest/passwords.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/anvil-process.ts',
    ['platform/anvil-bytes.test.ts'],
    [
      [
        'deadlines.halves',
        'A byte that is cut on its way is whole again.',
        `text.length - (text.length % 2)`,
        `text.length`,
      ],
    ],
  ),
]
