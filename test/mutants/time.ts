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
    ['time.zone', 'A time without a zone is refused.', `{ offset: true }`, `{ offset: true, local: true }`],
  ]),
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
