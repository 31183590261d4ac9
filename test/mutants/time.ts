import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['graphql/time.test.ts']

export const time: Mutant[] = [
  ...mutantsOf(
    'src/domain/asset/asset-service.ts',
    ['pages/lookup.test.ts'],
    [
      [
        'lookup.private',
        'A private asset is as unknown to strangers as a file that nobody registered.',
        `return { ...visibleAssets(actor), ...(sha256`,
        `return { deletedAt: null, ...(sha256`,
      ],
      [
        'lookup.oldest-first',
        'Registrations of a file are told oldest first.',
        `findMany({ ...query, orderBy: { id: 'asc' }, where })`,
        `findMany({ ...query, orderBy: { id: 'desc' }, where })`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-input.ts',
    ['pages/lookup.test.ts'],
    [
      [
        'lookup.either',
        'A file is looked up by its SHA-256 or by its CID, not by both.',
        `(sha256 === undefined) !== (cid === undefined)`,
        `sha256 !== undefined || cid !== undefined`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/asset/moment.ts', TESTS, [
    [
      'time.end-of-second',
      'Seconds since 1970 name the end of that second, for commits are told by them.',
      `seconds * 1_000 + 999`,
      `seconds * 1_000`,
    ],
  ]),
  ...mutantsOf(
    'src/domain/parse-moment.ts',
    ['rest/grants.test.ts'],
    [['time.zone', 'A time without a zone is refused.', `{ offset: true }`, `{ offset: true, local: true }`]],
  ),
  ...mutantsOf(
    'src/platform/http/if-none-match.ts',
    ['rest/versions.test.ts'],
    [
      [
        'doors.known-list',
        'A version that a caller has is known in a list of several.',
        `header?.split(',').some(`,
        `[header].filter((each) => each !== undefined).some(`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/files/at-once.ts',
    ['files/at-once.test.ts'],
    [
      [
        'isolation.at-once',
        'Work that is under way is over when the list of it fails.',
        `await Promise.all(underWay)`,
        `underWay.clear()`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/asset/version-statements.ts', TESTS, [
    [
      'time.at-the-moment',
      'A commit counts from its very moment on.',
      `case when c.created_at <= $time then c.sequence else low end`,
      `case when c.created_at < $time then c.sequence else low end`,
    ],
    [
      'time.foreign-commit',
      'A commit of another asset names no moment of this one.',
      `where id = $commit and asset_id = $asset`,
      `where id = $commit and $asset <> id`,
    ],
    [
      'time.said-later',
      'A version says what a field became, not what it was.',
      `setter.changes -> set.field -> 1`,
      `setter.changes -> set.field -> 0`,
    ],
  ]),
  ...mutantsOf('src/domain/asset/version-service.ts', TESTS, [
    [
      'time.before-registration',
      'Before its registration there was no asset.',
      `if (found.sequence === 0) throw`,
      `if (found.sequence < 0) throw`,
    ],
    [
      'time.removed-keys',
      'A custom key that was not there is not shown.',
      `Object.keys(customOf(blame)).map((key) => [key, whole[key]])`,
      `Object.keys(whole).map((key) => [key, whole[key]])`,
    ],
  ]),
  ...mutantsOf('src/domain/invariants/history-invariants.ts', TESTS, [
    [
      'time.check-newest',
      'The check finds an asset that says what the commit that is named did not set it to.',
      `c.sequence = s.setter
                  and s.value = case`,
      `c.sequence = s.setter
                  and s.value is not null or s.value = case`,
    ],
    [
      'time.check-order',
      'The check finds a commit that names a later one.',
      `n.setter > n.sequence or not exists`,
      `not exists`,
    ],
    [
      'time.check-setter',
      'The check finds a commit that names one which did not set the field.',
      `and (c.changes ? n.field and (n.key is null or c.changes -> n.field -> 1 ? n.key) or c.tree = '')`,
      ``,
    ],
  ]),
  ...mutantsOf(
    'prisma/migrations/20261122181000_tell_blame_of_earlier_commits/migration.sql',
    ['processes/migrated-blame.processes.ts'],
    [
      [
        'time.earlier-lock',
        'Who tells earlier commits lets nobody add one that is passed over.',
        `    PERFORM FROM "assets" WHERE "id" BETWEEN "start"."asset_id" AND "end"."asset_id" ORDER BY "id" FOR NO KEY UPDATE;\n`,
        ``,
      ],
      [
        'time.earlier-erased',
        'Of an erased commit nothing is told.',
        `WHEN "commit"."is_erased" THEN '{}'`,
        `WHEN false THEN '{}'`,
      ],
      [
        'time.earlier-place',
        'What was interrupted goes on where it stopped.',
        `SELECT "blame" INTO "running" FROM "commits"`,
        `SELECT '{}' INTO "running" FROM "commits"`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261122130500_say_which_commit_set_each_field/migration.sql',
    ['processes/migrated-blame.processes.ts'],
    [
      [
        'time.follows-unknown',
        'A commit that follows one whose blame is not known yet waits for it.',
        `SELECT "blame" FROM`,
        `SELECT coalesce("blame", '{}') FROM`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/migrations.ts',
    ['processes/migrated-blame.processes.ts'],
    [
      [
        'time.preparation',
        'What takes long in a migration is done before it, in transactions of their own.',
        `if (preparation !== undefined) while`,
        `if (preparation === null) while`,
      ],
      [
        'time.rewritten',
        'A database that ran a migration before it was rewritten gets its checksum.',
        `  await forgetEarlierChecksums(client, migrations)\n`,
        ``,
      ],
    ],
  ),
  ...mutantsOf('src/domain/asset/asset-revert.ts', TESTS, [
    [
      'revert.visibility',
      'A revert leaves who may see the asset.',
      `const { publicAccess: _, custom, ...said } = metadata`,
      `const { custom, ...said } = metadata`,
    ],
    [
      'revert.added-keys',
      'A revert takes custom keys away that were added since.',
      `Object.fromEntries(added.map((key) => [key, null]))`,
      `{}`,
    ],
  ]),
  ...mutantsOf('src/domain/asset/asset-changes.ts', TESTS, [
    [
      'revert.idempotency',
      'A key that reverted to one moment does not stand for another.',
      `{ nid, ...request, expectedHead }`,
      `{ nid, ...(operation === 'revertAsset' ? {} : request), expectedHead }`,
    ],
  ]),
]
