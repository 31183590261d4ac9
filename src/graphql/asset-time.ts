/** What was: the commit of a moment, differences between two moments, and who set which field. */
import { queryFromInfo } from '@pothos/plugin-prisma'
import { customField } from '../domain/asset/metadata.ts'
import { momentDescription } from '../domain/asset/moment.ts'
import type { FieldBlame } from '../domain/asset/version-service.ts'
import type { Commit } from '../platform/prisma/client.ts'
import { AssetType } from './asset.ts'
import { builder } from './builder.ts'
import { CommitType } from './commit.ts'
import { CHANGES_BYTES } from './metadata-fields.ts'
import { offsetArg } from './offset.ts'
import { characters, jsonBytes, pageOf, wholeDocument } from './sizes.ts'

type Arguments = Pick<PothosSchemaTypes.RootFieldBuilder<typeof builder.$inferSchemaTypes, unknown>, 'arg'>

/** Its place in a history. */
const REGISTRATION = 1
/** Reading two versions out of a history is worth so many values. */
const DIFF_VALUES = 20
const blamePages = pageOf(500, 50)

interface Diff {
  asset: string
  from: number
  to: number
}

const AssetDiff = builder.objectRef<Diff>('AssetDiff').implement({
  description: 'What differs between two moments of a history.',
  fields: (t) => ({
    from: t.prismaField({
      type: CommitType,
      nullable: true,
      description: 'The commit of the first moment.',
      resolve: async (query, { asset, from }, _args, { services }) =>
        (await services.assets.commitsAt(asset, [from], query))[0],
    }),
    to: t.prismaField({
      type: CommitType,
      nullable: true,
      description: 'The commit of the second moment.',
      resolve: async (query, { asset, to }, _args, { services }) =>
        (await services.assets.commitsAt(asset, [to], query))[0],
    }),
    changes: t.field({
      ...wholeDocument(CHANGES_BYTES, DIFF_VALUES),
      type: 'JSONObject',
      nullable: true,
      description:
        'What differs, as `Commit.changes` has it: `{"caption": ["then", "later"]}`; of custom fields only the keys that differ. Empty when nothing does.',
      resolve: ({ asset, from, to }, _args, { services }) => services.versions.changes(asset, from, to),
    }),
  }),
})

const FieldBlameType = builder.objectRef<FieldBlame & { commit: Commit | undefined }>('FieldBlame').implement({
  description: 'A field, and the commit that set it to what it is.',
  fields: (t) => ({
    field: t.exposeString('field', {
      ...characters(64),
      description: 'Its name, as `Commit.changes` has it: `caption`, `alt_text`, `nit_commit_custom`.',
    }),
    key: t.exposeString('key', {
      ...jsonBytes(customField.size),
      nullable: true,
      description: 'Of the custom fields, which one; else null.',
    }),
    commit: t.field({
      type: CommitType,
      nullable: true,
      description: 'The commit: its `user` is who set it, its `createdAt` when.',
      resolve: ({ commit }) => commit,
    }),
  }),
})

/** An argument that names a moment. */
const moment = (t: Arguments, meaning: string, otherwise = 'The newest commit when left out.') =>
  t.arg.string({ description: `${meaning}: ${momentDescription}. ${otherwise}` })

const REFUSALS =
  'Raises VALIDATION_FAILED, and NOT_FOUND when the asset was not registered yet, or the commit is none of its own.'

builder.prismaObjectFields(AssetType, (t) => ({
  commitAt: t.read({
    type: CommitType,
    nullable: true,
    description: `The newest commit at a moment. ${REFUSALS}`,
    args: { at: moment(t, 'The moment') },
    resolve: async (query, { id }, { at }, { services }) => {
      const place = await services.versions.placeOf(id, at, 'at')
      return (await services.assets.commitsAt(id, [place], query))[0]
    },
  }),
  diff: t.field({
    type: AssetDiff,
    nullable: true,
    description: `What its metadata says at one moment and what at another one, whichever is the earlier. ${REFUSALS}`,
    args: {
      from: moment(t, 'The first moment', 'The registration when left out.'),
      to: moment(t, 'The second moment'),
    },
    resolve: async ({ id }, { from, to }, { services }) => ({
      asset: id,
      from: typeof from === 'string' ? await services.versions.placeOf(id, from, 'from') : REGISTRATION,
      to: await services.versions.placeOf(id, to, 'to'),
    }),
  }),
  blame: t.field({
    type: [FieldBlameType],
    ...blamePages,
    nullable: true,
    description:
      'For each field that was ever given, and each custom key that is there, the commit that set it last. It takes as long ' +
      `whether the history has ten commits or a million. In the order of the fields, then of the keys. ${REFUSALS}`,
    args: {
      asOf: moment(t, 'As it was at a moment'),
      limit: t.arg.int({ description: 'At most so many fields.' }),
      offset: offsetArg(t),
    },
    resolve: async ({ id }, { asOf, limit, offset }, context, info) => {
      const { services } = context
      const place = await services.versions.placeOf(id, asOf, 'asOf')
      const page = { limit: limit ?? blamePages.defaultSize, offset: offset ?? 0 }
      const set = await services.versions.blame(id, place, page)
      const query = queryFromInfo({ context, info, path: ['commit'], select: { sequence: true } })
      const commits = await services.assets.commitsAt(id, [...new Set(set.map(({ sequence }) => sequence))], query)
      const bySequence = new Map(commits.map((commit) => [commit.sequence, commit]))
      return set.map((field) => ({ ...field, commit: bySequence.get(field.sequence) }))
    },
  }),
}))
