import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['domain/erasure.test.ts', 'rest/account-deletion.test.ts']

/** A field that is left standing when its asset or account goes. */
const left = (
  field: string,
  find: string,
  replace: string,
  tests = TESTS,
): [string, string, string, string, string[]] => [
  `erasure.${field}`,
  `The ${field.replaceAll('-', ' ')} goes with what it belongs to.`,
  find,
  replace,
  tests,
]

export const erasure: Mutant[] = [
  ...mutantsOf(
    'src/domain/asset/erasure-statements.ts',
    ['domain/erasure.test.ts'],
    [
      [
        'erasure.late-links',
        'A link that was made at the moment of the deletion goes, too.',
        `where l.asset_id = locked_assets.id)`,
        `where l.asset_id = locked_assets.id and l.revoked_at is not null)`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/asset/asset-statements.ts', TESTS, [
    left('file-name', ` file_name = '',`, ``),
    left(
      'tree-of-commits',
      `set tree = '', message = '', changes = '{}' from deleted_assets`,
      `set message = '', changes = '{}' from deleted_assets`,
    ),
    left(
      'message-of-commits',
      `set tree = '', message = '', changes = '{}' from deleted_assets`,
      `set tree = '', changes = '{}' from deleted_assets`,
    ),
    left(
      'changes-of-commits',
      `set tree = '', message = '', changes = '{}' from deleted_assets`,
      `set tree = '', message = '' from deleted_assets`,
    ),
    left(
      'file-with-content-credentials',
      `c2pa_cid = null, c2pa_version = null`,
      `c2pa_cid = assets.c2pa_cid, c2pa_version = assets.c2pa_version`,
      ['contract/columns.test.ts'],
    ),
    left(
      'labels-of-links',
      `(delete from asset_links l using deleted_assets where l.asset_id = deleted_assets.id)`,
      `(select from deleted_assets)`,
      ['contract/columns.test.ts'],
    ),
  ]),
  ...mutantsOf('src/domain/asset/metadata.ts', TESTS, [
    left('first-field', `  ...allEntries.map(([, field]) => `, `  ...allEntries.slice(1).map(([, field]) => `),
    left('registration-fields', `  ...allEntries.map(([, field]) => `, `  ...entries.map(([, field]) => `),
    left('custom-fields', `\n  \`custom = '{}'\`,`, ``),
  ]),
  ...mutantsOf('src/domain/account/deletion-statements.ts', TESTS, [
    left('username', `username = $username,`, `username = coalesce(users.username, $username),`),
    left('email', `email = $email,`, `email = coalesce(users.email, $email),`),
    left('display-name', `display_name = 'Deleted account',\n`, `\n`),
    left('default-tag', `default_tag = '', referral_code = ''`, `referral_code = ''`),
    left('referral-code', `referral_code = '', language`, `language`),
    left('password', `password_hash = '', display_name`, `display_name`),
    left('grant-reasons', `update point_grants g set reason = ''`, `update point_grants g set reason = g.reason`, [
      'contract/columns.test.ts',
    ]),
    left('refund-reasons', `update refunds r set reason = ''`, `update refunds r set reason = r.reason`, [
      'rest/refunds.test.ts',
    ]),
    left(
      'custodial-key',
      `deleted_keys as (delete from user_keys using erased_user where user_id = erased_user.id)`,
      `deleted_keys as (select 1 from erased_user)`,
    ),
    left(
      'sessions',
      `deleted_tokens as (delete from access_tokens using erased_user where user_id = erased_user.id)`,
      `deleted_tokens as (select 1 from erased_user)`,
    ),
    left(
      'mailed-tokens',
      `deleted_one_time_tokens as (delete from one_time_tokens using erased_user where user_id = erased_user.id)`,
      `deleted_one_time_tokens as (select 1 from erased_user)`,
    ),
    left('administrators-role', `role = 'USER',\n`, `\n`),
  ]),
  ...mutantsOf(
    'src/domain/account/deletion-service.ts',
    ['rest/account-deletion.test.ts'],
    [
      [
        'erasure.all-assets',
        'All assets go, also where one statement does not empty them.',
        `from < assets.length; from +=`,
        `from < ASSETS_AT_ONCE; from +=`,
      ],
      [
        'erasure.whole-trail',
        'All addresses in a trail go, also where one statement does not erase them.',
        `after = (await query(eraseTrail, { user, after }))[0]!.last`,
        `after = (await query(eraseTrail, { user, after }))[0]!.last && null`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/deletion-service.ts',
    ['rest/restored.test.ts'],
    [
      [
        'erasure.reapplied',
        'An account that a backup brings back is deleted again.',
        `else await deleteAgain(id)`,
        `else await forget({ userId: id })`,
      ],
      [
        'erasure.reapplied-early',
        'It waits until the relay knows what became of its commits.',
        `if (waits) isDone = false`,
        `if (waits && id === '') isDone = false`,
      ],
      ['erasure.remembered', 'The vault remembers who was deleted.', `    await vault.markDeleted(userId)\n`, ``],
      [
        'erasure.forgotten-again',
        'A key share that a backup brings back is destroyed again.',
        `await forget({ userId: id })`,
        `log.debug({ user: id }, 'left')`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/account/deletion-sweep-statements.ts', TESTS, [
    left('answers-of-receivers', `set response = '' from`, `set response = a.response from`),
  ]),
  ...mutantsOf(
    'src/domain/store/delivery-payload.ts',
    ['platform/poisoned-jobs.test.ts'],
    [
      [
        'erasure.numbers-of-arguments',
        'Numbers of arguments that a receiver sends back are not kept.',
        `typeof next === 'string' || typeof next === 'number'`,
        `typeof next === 'string'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/embedded-postgres.ts',
    ['processes/embedded-postgres.processes.ts'],
    [
      [
        'erasure.log-of-the-database',
        'The log of the embedded PostgreSQL tells nothing of what stood in a row that was refused.',
        `log_error_verbosity: 'terse',`,
        `log_error_verbosity: 'default',`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-registration.ts',
    ['rest/restored.test.ts'],
    [
      [
        'files.healed',
        'A file that is missing is there again once its bytes are sent again.',
        ` || code === 'DUPLICATE_ASSET'`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/export-statements.ts',
    ['platform/export-pages.test.ts'],
    [
      [
        'export.page-of-history',
        'An export reads no more of a history than a page needs.',
        `     order by sequence limit $limit`,
        ``,
      ],
      [
        'export.same-order',
        'Of the order at which a page of refunds ended, the next one has the rest.',
        `case when o.id = \${afterId(part(2))} then \${afterId(part(3))} else \${NIL} end`,
        `\${NIL}`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/export-statements.ts',
    ['contract/columns.test.ts'],
    [
      [
        'export.profile',
        'An export has the code an account was recommended by.',
        `, 'referralCode', u.referral_code`,
        ``,
      ],
      ['export.sessions', 'An export has what sessions are called.', `'id, name, created_at`, `'id, created_at`],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/export-statements.ts',
    ['graphql/account-deletion.test.ts'],
    [
      [
        'export.own-feed',
        'An export has the feed of the person, and nobody else’s.',
        `   from events where owner_id = $user and sequence`,
        `   from events where owner_id <> $user and sequence`,
      ],
      [
        'export.withdrawals',
        'An export tells when a withdrawal was settled.',
        `settled_at as "settledAt"\`,\n  'from withdrawals`,
        `null::timestamptz as "settledAt"\`,\n  'from withdrawals`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/metadata.ts',
    ['contract/metadata.test.ts'],
    [
      [
        'metadata.export',
        'An export has every field of an asset.',
        `sql: [...allEntries.map(`,
        `sql: [\`'' as "caption"\`, ...allEntries.slice(1).map(`,
      ],
      [
        'metadata.swapped',
        'A field is written to its own column.',
        `[...allEntries.map(([name]) => \`$\${name}\`), '$custom::jsonb']`,
        `[...allEntries.map(([name]) => \`$\${name === 'caption' ? 'tag' : name === 'tag' ? 'caption' : name}\`), '$custom::jsonb']`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-tree.ts',
    ['contract/metadata.test.ts'],
    [
      [
        'metadata.changes',
        'A commit tells of every field that it changed.',
        `for (const [name, { column }] of fields) {`,
        `for (const [name, { column }] of fields.slice(1)) {`,
      ],
      [
        'metadata.tree',
        'A tree has what describes the asset.',
        `isAlwaysInTree || metadata[name] !== empty`,
        `isAlwaysInTree && metadata[name] === empty`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/v3/present-asset.ts',
    ['contract/metadata.test.ts', 'contract/records.test.ts'],
    [['metadata.rest', 'REST tells every field of an asset.', `    tag: asset.tag,\n`, ``]],
  ),
]
