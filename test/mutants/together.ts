import { type Mutant, mutantsOf } from './mutant.ts'

export const together: Mutant[] = [
  ...mutantsOf(
    'src/platform/database/join-writes.ts',
    ['platform/joined-writes.test.ts'],
    [
      [
        'together.apart',
        'No two that change the same are in one statement.',
        `!keys.some((key) => taken.has(key))`,
        `!keys.some((key) => !taken)`,
      ],
      ['together.most', 'One statement serves a bounded number.', `together.length < MOST_TOGETHER && `, ``],
      ['together.place', 'Each gets the row of their own.', `rows.get(index + 1)`, `rows.get(callers.length - index)`],
      [
        'together.one-callers',
        'What one caller’s values break is the others’ no trouble.',
        `(22|23|40|54|55P03)`,
        `(54|55P03)`,
      ],
      [
        'together.perhaps-done',
        'What may have been carried out is not carried out again.',
        `(22|23|40|54|55P03)`,
        `(22|23|40|54|55P03|57|E)`,
      ],
      [
        'together.patience',
        'Nobody waits for a statement that does not end.',
        `await Promise.race([work, promise])`,
        `await work`,
      ],
      [
        'together.origin',
        'What is done goes on with the trace of who asked for it.',
        `name === 'origins' ? origin : given[name]`,
        `name === 'origins' ? null : given[name]`,
      ],
      [
        'together.wait',
        'Those who come while a statement is under way go together.',
        `if (!isUnderWay) {`,
        `if (waiting.length > 0) {`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/sql.ts',
    ['domain/writes-together.test.ts'],
    [
      [
        'together.lock',
        'Nobody waits for what somebody holds who is not concerned.',
        `set_config('lock_timeout', '\${LONGEST_LOCK_MS}ms', true)`,
        `set_config('lock_timeout', '0', true)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/order-statements.ts',
    ['domain/writes-together.test.ts'],
    [
      [
        'together.seller-sum',
        'A seller gets the sum of what is paid together.',
        `select user_id, sum(points) as points, sum(num) as num,`,
        `select user_id, max(points) as points, max(num) as num,`,
      ],
      [
        'together.seller-events',
        'A seller’s feed has no gap where several pay together.',
        `(select count(*) from feed where feed.user_id = w.user_id)`,
        `1`,
      ],
      [
        'together.seller-positions',
        'Each event of a feed has a position of its own.',
        `row_number() over (partition by feed.user_id order by feed.transfer_id)`,
        `row_number() over (order by feed.transfer_id)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-statements.ts',
    ['domain/writes-together.test.ts', 'domain/charging.test.ts'],
    [
      [
        'together.head',
        'An update of an older head changes nothing, also among others.',
        `and a.head_sequence = item.head_sequence`,
        `and a.head_sequence <= item.head_sequence`,
      ],
    ],
  ),
]
