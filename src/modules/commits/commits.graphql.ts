import { builder } from '../../graphql/builder.ts'
import { characters, jsonBytes, urlSize } from '../../graphql/limits/sizes.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { fromUnits } from '../../shared/money.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { inputLengths } from '../assets/asset-input.ts'
import { readTree } from '../assets/asset-tree.ts'
import { CHANGES_BYTES, TREE_BYTES } from '../assets/metadata.graphql.ts'
import { actionNameOf, actionResultOf } from './commit-data.ts'

/** The way of a commit to the chain. */
export const CommitStatus = builder.enumType('CommitStatus', {
  description:
    "Status of a commit's chain transaction. A reorganisation of the chain moves INCLUDED back to BROADCAST.",
  values: {
    PENDING: { description: 'Accepted and paid for; not yet sent to the chain.' },
    BROADCAST: { description: 'Signed and sent to the chain.' },
    INCLUDED: { description: 'In a block, though not yet deep enough to be settled.' },
    FINAL: { description: 'Settled.' },
    FAILED: { description: 'Can never reach the chain; the charge was refunded.' },
  } as const,
})

const relay = {
  relay: { select: { status: true, treeSignature: true, transactionHash: true, blockNumber: true } },
} as const
const cost = { relay: { select: { gasUsed: true, feePaid: true } } } as const
const author = { author: { select: { wallet: { select: { address: true } } } } } as const
const creator = {
  asset: { select: { nid: true, creator: { select: { wallet: { select: { address: true } } } } } },
} as const

/** `Commit`, to be seen by whoever sees its asset. */
export const CommitType = builder.prismaObject('Commit', {
  description: 'One accepted change of an asset: who, when, what changed, and the chain transaction that carries it.',
  interfaces: [Node],
  // Read with every commit; what is rarer is read when it is asked for.
  select: { id: true, sequence: true, message: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `commit_01h2x…`.', resolve: ({ id }) => toId('commit', id) }),
    sequence: t.int({
      description: 'Position in the history of the asset; 1 is its registration.',
      resolve: ({ sequence }) => sequence,
    }),
    message: t.string({
      ...characters(inputLengths.commitMessage),
      description: 'What the author said about it, which stands on the chain for good.',
      resolve: ({ message }) => message,
    }),
    changes: t.expose('changes', {
      ...jsonBytes(CHANGES_BYTES),
      type: 'JSONObject',
      description: 'What changed: `{"caption": ["old", "new"]}`.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was accepted.',
      resolve: ({ createdAt }) => createdAt,
    }),
    user: t.relation('author', { type: UserType, description: 'Who made the change.' }),
    treeCid: t.expose('treeCid', {
      type: 'CID',
      description: 'Where the asset tree at this commit is stored.',
    }),
    treeSha256: t.exposeString('treeSha256', {
      ...characters(64),
      description: "SHA-256 of the tree's bytes, 64 hexadecimal digits.",
    }),
    tree: t.field({
      ...jsonBytes(TREE_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'The asset tree at this commit: what its metadata said, in the public layout. It is there from acceptance on, before it is stored under `treeCid`, where its exact bytes are. Raises NOT_FOUND once it was erased.',
      select: { tree: true },
      resolve: ({ tree }) => readTree(tree),
    }),
    treeSignature: t.string({
      ...characters(132),
      nullable: true,
      description:
        "The committer's EIP-191 signature over `treeSha256`; null until it is signed, shortly after acceptance.",
      select: relay,
      resolve: (commit) => commit.relay?.treeSignature ?? null,
    }),
    author: t.field({
      type: 'Address',
      description: "Address of the asset's creator.",
      select: creator,
      resolve: ({ asset }) => asset.creator.wallet!.address,
    }),
    committer: t.field({
      type: 'Address',
      description: 'Address of who made and signed the change.',
      select: author,
      resolve: (commit) => commit.author.wallet!.address,
    }),
    provider: t.string({
      ...characters(255),
      description: 'The service that wrote the commit.',
      resolve: (_commit, _args, { linkConfig }) => linkConfig.provider,
    }),
    actionName: t.string({
      ...characters(64),
      description: '`action-initial-registration` or `action-commit`.',
      resolve: ({ sequence }) => actionNameOf(sequence),
    }),
    action: t.field({
      type: 'CID',
      description: 'Where the description of the action is stored.',
      resolve: ({ sequence }, _args, { linkConfig }) => linkConfig.actionNids[actionNameOf(sequence)]!,
    }),
    actionResult: t.string({
      ...urlSize,
      description: 'What came of the action: the URL of the asset.',
      select: creator,
      resolve: ({ asset }, _args, { linkConfig }) => actionResultOf(linkConfig.publicUrl, asset.nid),
    }),
    status: t.field({
      type: CommitStatus,
      description: 'Status of its chain transaction.',
      select: relay,
      resolve: (commit) => commit.relay?.status ?? 'PENDING',
    }),
    transactionHash: t.string({
      ...characters(66),
      nullable: true,
      description: 'Hash of the chain transaction, which may carry other commits, too; null until it is signed.',
      select: relay,
      resolve: (commit) => commit.relay?.transactionHash ?? null,
    }),
    blockNumber: t.int({
      nullable: true,
      description: 'Block that includes it; null until then.',
      select: relay,
      resolve: (commit) => commit.relay?.blockNumber ?? null,
    }),
    gasUsed: t.int({
      nullable: true,
      description:
        'Gas that it took on the chain: where its transaction carries several commits, its part by the bytes of its event. Null until it is included, and of commits from before this was kept.',
      select: cost,
      resolve: (commit) => commit.relay?.gasUsed ?? null,
    }),
    feePaid: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        "What that cost the service, in the chain's own coin, shared in the same way to the last digit. The author is charged `gas` of the quote, whatever this is. Null as `gasUsed` is.",
      select: cost,
      resolve: (commit) => (commit.relay?.feePaid ? fromUnits(BigInt(commit.relay.feePaid.toFixed())) : null),
    }),
    explorerUrl: t.string({
      ...urlSize,
      nullable: true,
      description: 'Where a person can look at the transaction, if an explorer is known for the chain.',
      select: relay,
      resolve: (commit, _args, { linkConfig }) =>
        commit.relay?.transactionHash ? linkConfig.explorerUrl(commit.relay.transactionHash) : null,
    }),
  }),
})

/** A page of a history; by sequences, which have no gaps. */
export const CommitConnection = builder.connectionObject(
  { type: CommitType, name: 'CommitConnection', description: 'A page of a history.' },
  { name: 'CommitEdge', description: 'A commit with its cursor.' },
)
