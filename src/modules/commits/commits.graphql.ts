import { builder, optionalText, shortText, time } from '../../graphql/builder.ts'
import { characters, jsonBytes, jsonTextBytes, urlSize } from '../../graphql/limits/document-cost.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { fromUnits } from '../../shared/money.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { customField, inputLengths, type MetadataField, metadataFields, readTree } from '../assets/metadata.ts'
import { actionNameOf, actionResultOf } from './commit-data.ts'

const sizeOf = ({ kind, size }: MetadataField) => (kind === 'text' ? characters : jsonTextBytes)(size)

/** Returns the description and the maximum size of an output field. */
export const describe = (field: MetadataField) => ({
  description: field.description,
  ...(field.kind !== 'flag' && sizeOf(field)),
})

const bytesOf = (fields: MetadataField[]) =>
  fields.reduce<number>((sum, field) => sum + (sizeOf(field).extensions.size.bytes ?? 0), customField.size)
const allFields: MetadataField[] = Object.values(metadataFields)

/** Maximum size of the changes of a commit, in bytes. */
export const CHANGES_BYTES = 2 * bytesOf(allFields)
/** Maximum size of the tree fields that identify the file and its creator, in bytes. */
const IDENTITY_BYTES = 4_000
/** Maximum size of an asset tree, in bytes. */
export const TREE_BYTES = IDENTITY_BYTES + bytesOf(allFields.filter(({ treeName }) => treeName))

export const CommitStatus = builder.enumType('CommitStatus', {
  description: "Status of a commit's chain transaction. A chain reorganization moves INCLUDED back to BROADCAST.",
  values: {
    PENDING: { description: 'The commit is accepted and paid, but not sent to the chain yet.' },
    BROADCAST: { description: 'The transaction of the commit is signed and sent to the chain.' },
    INCLUDED: { description: 'The commit is in a block that does not have enough confirmations yet.' },
    FINAL: { description: 'The commit is in a block with enough confirmations.' },
    FAILED: { description: 'The commit can never reach the chain. The charge was refunded.' },
  } as const,
})

const relayColumns = { status: true, treeSignature: true, transactionHash: true, blockNumber: true } as const
const relay = { relay: { select: relayColumns } } as const
/** Options of GraphQL fields that are null until the relay has set their values. */
const ofRelay = { nullable: true, select: relay } as const
const ofCost = { nullable: true, select: { relay: { select: { gasUsed: true, feePaid: true } } } } as const
const withAddress = { select: { wallet: { select: { address: true } } } } as const
const author = { author: withAddress } as const
const creator = { asset: { select: { nid: true, creator: withAddress } } } as const

/** The type `Commit`. Everyone who can see the asset can see its commits. */
export const CommitType = builder.prismaObject('Commit', {
  description: 'One accepted change of an asset: who, when, what changed, and the chain transaction that carries it.',
  interfaces: [Node],
  // Columns that are loaded with every commit. Rarely used fields select their own columns.
  select: { id: true, sequence: true, message: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'ID, such as `commit_01h2x…`.', resolve: ({ id }) => toId('commit', id) }),
    sequence: t.exposeInt('sequence', { description: 'Position in the history of the asset. 1 is the registration.' }),
    message: t.exposeString(
      'message',
      shortText(inputLengths.commitMessage, 'Message of the author. The chain keeps the message forever.'),
    ),
    changes: t.expose('changes', {
      ...jsonBytes(CHANGES_BYTES),
      type: 'JSONObject',
      description: 'Changed fields with their old and new values: `{"caption": ["old", "new"]}`.',
    }),
    createdAt: t.expose('createdAt', time('Time at which the commit was accepted.')),
    user: t.relation('author', { type: UserType, description: 'The user who made the change.' }),
    treeCid: t.expose('treeCid', { type: 'CID', description: 'CID of the asset tree at this commit.' }),
    treeSha256: t.exposeString('treeSha256', shortText(64, "SHA-256 of the tree's bytes, 64 hexadecimal digits.")),
    tree: t.field({
      ...jsonBytes(TREE_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'The asset tree at this commit: the metadata in the public layout. It is available from acceptance, before its exact bytes are stored under `treeCid`. Raises NOT_FOUND after it was erased.',
      select: { tree: true },
      resolve: ({ tree }) => readTree(tree),
    }),
    treeSignature: t.string({
      ...characters(132),
      ...ofRelay,
      description:
        'EIP-191 signature of `treeSha256` by the committer. Null until the tree is signed, shortly after acceptance.',
      resolve: (commit) => commit.relay?.treeSignature,
    }),
    author: t.field({
      type: 'Address',
      description: "Address of the asset's creator.",
      select: creator,
      resolve: ({ asset }) => asset.creator.wallet!.address,
    }),
    committer: t.field({
      type: 'Address',
      description: 'Address of the user who made and signed the change.',
      select: author,
      resolve: (commit) => commit.author.wallet!.address,
    }),
    provider: t.string({
      ...shortText(255, 'The service that wrote the commit.'),
      resolve: (_commit, _args, { linkConfig }) => linkConfig.provider,
    }),
    actionName: t.string({
      ...shortText(64, '`action-initial-registration` or `action-commit`.'),
      resolve: ({ sequence }) => actionNameOf(sequence),
    }),
    action: t.field({
      type: 'CID',
      description: 'CID of the description of the action.',
      resolve: ({ sequence }, _args, { linkConfig }) => linkConfig.actionNids[actionNameOf(sequence)]!,
    }),
    actionResult: t.string({
      ...urlSize,
      description: 'Result of the action: the URL of the asset.',
      select: creator,
      resolve: ({ asset }, _args, { linkConfig }) => actionResultOf(linkConfig.publicUrl, asset.nid),
    }),
    status: t.field({
      type: CommitStatus,
      description: 'Status of the chain transaction of the commit.',
      select: relay,
      resolve: (commit) => commit.relay?.status ?? 'PENDING',
    }),
    transactionHash: t.string({
      ...ofRelay,
      ...optionalText(
        66,
        'Hash of the chain transaction, which may carry other commits. Null until the transaction is signed.',
      ),
      resolve: (commit) => commit.relay?.transactionHash,
    }),
    blockNumber: t.int({
      ...ofRelay,
      description: 'Number of the block that includes the transaction. Null until the transaction is included.',
      resolve: (commit) => commit.relay?.blockNumber,
    }),
    gasUsed: t.int({
      ...ofCost,
      description:
        'Gas used on the chain. If the transaction carries several commits, this is the share of this commit by the bytes of its event. Null until the transaction is included, and for old commits without a record.',
      resolve: (commit) => commit.relay?.gasUsed,
    }),
    feePaid: t.field({
      type: 'Decimal',
      ...ofCost,
      description:
        "Fee that the service paid for that gas, in the chain's native coin. The author is charged `gas` of the quote instead. Null whenever `gasUsed` is null.",
      resolve: (commit) => (commit.relay?.feePaid ? fromUnits(BigInt(commit.relay.feePaid.toFixed())) : null),
    }),
    explorerUrl: t.string({
      ...urlSize,
      ...ofRelay,
      description: 'URL of the transaction in a block explorer, if one is configured.',
      resolve: (commit, _args, { linkConfig }) =>
        commit.relay?.transactionHash ? linkConfig.explorerUrl(commit.relay.transactionHash) : null,
    }),
  }),
})

export const CommitConnection = builder.connectionObject(
  { type: CommitType, name: 'CommitConnection', description: 'A page of a history.' },
  { name: 'CommitEdge', description: 'A commit with its cursor.' },
)
