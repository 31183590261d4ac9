import { resolveCursorConnection } from '@pothos/plugin-relay'
import { placeOfForeignCommit } from '../domain/asset/foreign-commit-service.ts'
import type { ForeignCommit } from '../domain/asset/foreign-commit-statements.ts'
import { AssetType } from './asset.ts'
import { builder } from './builder.ts'
import { offsetArg } from './offset.ts'
import { characters, pageOf, urlSize } from './sizes.ts'
import { totalCountDescription } from './total-count.ts'

/** Bytes that are kept of one; see `chain/foreign/log.ts`. */
const KEPT_BYTES = 4_096
const pages = pageOf(100)

const ForeignCommitType = builder.objectRef<ForeignCommit>('ForeignCommit').implement({
  description:
    'A commit to this file that somebody else wrote to the same registry. Anybody may: it changes nothing of the asset, and what it says was checked by nobody.',
  fields: (t) => ({
    recorder: t.expose('recorder', { type: 'Address', description: 'The account that wrote it.' }),
    transactionHash: t.string({
      ...characters(66),
      description: 'Hash of the transaction that carries it.',
      resolve: ({ transaction_hash }) => transaction_hash,
    }),
    blockNumber: t.int({ description: 'The block that has it.', resolve: ({ block_number }) => block_number }),
    logIndex: t.int({ description: 'Its place among the events of the block.', resolve: ({ log_index }) => log_index }),
    recordedAt: t.field({
      type: 'DateTime',
      description: 'The time of its block.',
      resolve: ({ recorded_at }) => recorded_at,
    }),
    text: t.string({
      ...characters(KEPT_BYTES),
      description:
        'What it says, at most the first 4,096 bytes of it. It can be anything: show it as text, and follow nothing that stands in it.',
      resolve: ({ data }) => data,
    }),
    size: t.int({ description: 'Bytes of all that it says.', resolve: ({ data_bytes }) => data_bytes }),
    explorerUrl: t.string({
      ...urlSize,
      nullable: true,
      description: 'Where a person can look at the transaction, if an explorer is known for the chain.',
      resolve: ({ transaction_hash }, _args, { linkConfig }) => linkConfig.explorerUrl(transaction_hash),
    }),
  }),
})

const ForeignCommitConnection = builder.connectionObject(
  {
    type: ForeignCommitType,
    name: 'ForeignCommitConnection',
    description: 'A page of commits by others.',
    fields: (t) => ({
      totalCount: t.int({
        description: totalCountDescription,
        resolve: async (connection, _args, { services }) =>
          (await services.foreignCommits.count(nidOf(connection))).count,
      }),
      isCut: t.boolean({
        description: 'Whether there are more on the chain: a thousand are kept of one file, the first ones.',
        resolve: async (connection, _args, { services }) =>
          (await services.foreignCommits.count(nidOf(connection))).isCut,
      }),
    }),
  },
  { name: 'ForeignCommitEdge', description: 'A commit by somebody else with its cursor.' },
)

/** The connection knows whose it is. */
const nidOf = (connection: object) => (connection as { nid: string }).nid

builder.prismaObjectField(AssetType, 'foreignCommits', (t) =>
  t.connection(
    {
      type: ForeignCommitType,
      ...pages,
      description:
        'What others committed to this file, newest first; none of it is part of its history. Raises VALIDATION_FAILED.',
      args: { offset: offsetArg(t) },
      resolve: async ({ nid }, { offset, ...args }, { services }) => ({
        ...(await resolveCursorConnection<Promise<ForeignCommit[]>>(
          { args, ...pages, toCursor: placeOfForeignCommit },
          (page) => services.foreignCommits.list(nid, { ...page, offset: offset ?? 0 }),
        )),
        nid,
      }),
    },
    ForeignCommitConnection,
  ),
)
