import { type Mutant, mutantsOf } from './mutant.ts'

const LISTS = ['domain/order-of-lists.test.ts']
const TRANSFERS = ['domain/order-of-transfers.test.ts']

export const order: Mutant[] = [
  ...mutantsOf('prisma/migrations/20261121213600_order_by_the_database/migration.sql', TRANSFERS, [
    [
      'order.above-all',
      'A transfer stands above all that its wallet has, whatever the clock says.',
      `IF ids[i] <= newest THEN`,
      `IF false THEN`,
    ],
    [
      'order.looks-anew',
      'A transfer that waited for its wallet stands above what it waited for.',
      `"count" integer DEFAULT 1) RETURNS uuid[] LANGUAGE plpgsql VOLATILE`,
      `"count" integer DEFAULT 1) RETURNS uuid[] LANGUAGE plpgsql STABLE`,
    ],
    [
      'order.time-of-transfer',
      'A statement’s times never run ahead from newest to oldest.',
      `ALTER TABLE "transfers" ALTER COLUMN "created_at" SET DEFAULT clock_timestamp();`,
      ``,
    ],
    [
      'order.type-id',
      'What the database writes down is an identifier as callers see it.',
      `SELECT B'00' || `,
      `SELECT `,
    ],
  ]),
  ...mutantsOf('src/domain/wallet/transfer-sql.ts', TRANSFERS, [
    [
      'order.past',
      'The clock names a transfer only where it is past all that the wallet has.',
      `=> \`uuidv7() > coalesce((`,
      `=> \`uuidv7() <> coalesce((`,
    ],
    [
      'order.both-wallets',
      'A sale stands above all that either wallet has.',
      `order by transfer_id desc limit 1`,
      `order by transfer_id limit 1`,
    ],
  ]),
  ...mutantsOf('src/domain/wallet/deposit-statements.ts', TRANSFERS, [
    [
      'order.deposits',
      'Deposits are named when their wallet is held.',
      `before + rank as sequence, transfers[rank] as transfer_id`,
      `before + rank as sequence, uuidv7() as transfer_id`,
    ],
  ]),
  ...mutantsOf('src/domain/store/order-statements.ts', TRANSFERS, [
    [
      'order.time-of-order',
      'A buyer’s orders are in the order in which the wallet was held.',
      `w.num, clock_timestamp() as at`,
      `w.num, now() as at`,
    ],
  ]),
  ...mutantsOf('src/domain/store/order-service.ts', LISTS, [
    [
      'order.orders',
      'Orders are listed by when they were made.',
      `orderBy: [{ createdAt: 'desc' }, { id: 'desc' }]`,
      `orderBy: { id: 'desc' }`,
    ],
  ]),
  ...mutantsOf('src/domain/store/api-key-service.ts', LISTS, [
    [
      'order.api-keys',
      'API keys are listed by when they were made.',
      `orderBy: [{ createdAt: 'desc' }, { id: 'desc' }]`,
      `orderBy: { id: 'desc' }`,
    ],
  ]),
  ...mutantsOf('src/domain/store/network-app-statements.ts', LISTS, [
    [
      'order.network-apps',
      'Network apps are listed by when they were made.',
      `order by is_exact \${direction}, created_at \${direction}, id`,
      `order by is_exact \${direction}, id`,
    ],
  ]),
  ...mutantsOf('src/domain/asset/asset-registration.ts', LISTS, [
    [
      'order.upload-time',
      'An asset tells when it was registered by the database’s clock.',
      `const uploadedAt = await assertNew(database, file)`,
      `const uploadedAt = await assertNew(database, file).then(() => new Date())`,
    ],
  ]),
  ...mutantsOf(
    'src/domain/store/delivery-service.ts',
    ['domain/deadlines.test.ts'],
    [['order.webhook-time', 'A webhook tells the time by the database’s clock.', `at: due.now,`, `at: new Date(),`]],
  ),
  ...mutantsOf(
    'src/chain/relay/prepare-statements.ts',
    ['chain/lives.test.ts'],
    [
      [
        'order.lives',
        'The lives of a file are in the order in which they ended.',
        `e.deleted_at < coalesce(a.deleted_at, 'infinity')`,
        `e.deleted_at is not null and e.uploaded_at < a.uploaded_at`,
      ],
    ],
  ),
]
