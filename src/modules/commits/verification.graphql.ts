import type {
  Check,
  Finding,
  Verdict,
  Verification,
  VerifiedCommit,
} from '../../../packages/verify/src/verification.ts'
import { builder, optionalText, optionalTime, time } from '../../graphql/builder.ts'
import { atMost, characters, pageOf, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { AssetType } from '../assets/assets.graphql.ts'
import { inputLengths } from '../assets/metadata.ts'
import { verifyHistory } from './verify-history.ts'

const FINDING_CHARACTERS = 1_000
const MAX_CHECKS = 12
const verifiedPages = pageOf(50)

const resultValues = {
  RIGHT: { value: 'right', description: 'The check passed.' },
  WRONG: { value: 'wrong', description: 'The evidence contradicts itself.' },
  UNKNOWN: { value: 'unknown', description: 'Evidence is missing or unreadable.' },
} as const
const FindingResult = builder.enumType('FindingResult', { description: 'Result of a check.', values: resultValues })

const verdictValues = {
  HOLDS: { value: 'holds', description: 'All checks passed.' },
  BROKEN: { value: 'broken', description: 'The evidence contradicts itself.' },
  UNSETTLED: {
    value: 'unsettled',
    description: 'No contradiction was found, but some evidence is missing or unreadable.',
  },
  UNKNOWN: { value: 'unknown', description: 'The chain has no valid commit of the asset.' },
} as const satisfies Record<string, { value: Verdict; description: string }>
const VerdictType = builder.enumType('Verdict', { description: 'Verdict on a history.', values: verdictValues })

const findingFields = (t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Finding>) => ({
  result: t.expose('result', { type: FindingResult, description: 'Result of the check.' }),
  finding: t.string({
    ...optionalText(FINDING_CHARACTERS, 'The reason, as a sentence. Null when the result is RIGHT.'),
    resolve: ({ finding }) => finding?.slice(0, FINDING_CHARACTERS),
  }),
})

const FindingType = builder
  .objectRef<Finding>('Finding')
  .implement({ description: 'Result of one check, with its reason.', fields: findingFields })

const CheckType = builder.objectRef<Check>('Check').implement({
  description: 'One check of a commit.',
  fields: (t) => ({
    name: t.exposeString('name', {
      ...characters(16),
      description:
        'Name of the check: `event`, `transaction`, `layout`, `tree`, `sha256`, `asset`, `signature`, `author`, `order`, `time` or `record`.',
    }),
    ...findingFields(t),
  }),
})

const VerifiedCommitType = builder.objectRef<VerifiedCommit>('VerifiedCommit').implement({
  description: 'A commit on the chain.',
  fields: (t) => ({
    life: t.exposeInt('life', {
      description:
        'Number of the registration that the commit belongs to, starting at 1. A deleted file can be registered again.',
    }),
    blockNumber: t.exposeInt('blockNumber', { description: 'Number of the block of the commit.' }),
    blockTime: t.field({ ...time('Time of the block.'), resolve: ({ blockTime }) => new Date(blockTime) }),
    transactionHash: t.exposeString(
      'transactionHash',
      optionalText(66, 'Hash of the chain transaction. Null if the node did not return it.'),
    ),
    recorder: t.exposeString(
      'recorder',
      optionalText(42, 'Address of the account that wrote the commit to the chain.'),
    ),
    treeCid: t.string({
      ...optionalText(255, 'CID of the asset tree, as recorded on the chain.'),
      resolve: ({ commitData }) => commitData?.assetTreeCid.slice(0, 255),
    }),
    message: t.string({
      ...optionalText(inputLengths.commitMessage, 'Message of the author, from the chain.'),
      resolve: ({ commitData }) => commitData?.abstract.slice(0, inputLengths.commitMessage),
    }),
    checks: t.expose('checks', { ...atMost(MAX_CHECKS), type: [CheckType], description: 'All checks of the commit.' }),
  }),
})

const VerificationType = builder.objectRef<Verification>('Verification').implement({
  description:
    'Result of verifying a history against the chain and the file network. `annal-verify` does the same without this service.',
  fields: (t) => ({
    verdict: t.expose('verdict', { type: VerdictType, description: 'The verdict.' }),
    registry: t.expose('registry', { type: 'Address', description: 'Address of the registry.' }),
    chainId: t.float({
      nullable: true,
      description: 'ID of the chain: an integer that may exceed 32 bits. Null if the node did not return it.',
      resolve: ({ chainId }) => chainId,
    }),
    asOfBlock: t.int({
      nullable: true,
      description: 'Number of the newest block. Null if the node did not return it.',
      resolve: ({ asOf }) => asOf?.number,
    }),
    asOfTime: t.field({
      ...optionalTime('Time of the newest block. Null if the node did not return it.'),
      resolve: ({ asOf }) => asOf && new Date(asOf.time),
    }),
    complete: t.expose('complete', {
      type: FindingType,
      description:
        'Check that the list of commits is complete. UNKNOWN with the reason if the list or a block could not be read.',
    }),
    settled: t.expose('settled', { type: FindingType, description: 'Check that the blocks are part of the chain.' }),
    file: t.expose('file', {
      type: FindingType,
      nullable: true,
      description: 'Check that the file matches the trees.',
    }),
    record: t.expose('record', {
      type: FindingType,
      nullable: true,
      description: 'Check that the chain has every commit that the database records as written.',
    }),
    foreign: t.exposeInt('foreign', { description: 'Number of commits by unknown recorders, which are ignored.' }),
    commitCount: t.int({ description: 'Number of commits on the chain.', resolve: ({ commits }) => commits.length }),
    commits: t.field({
      ...verifiedPages,
      type: [VerifiedCommitType],
      description: 'The commits, oldest first.',
      args: { limit: t.arg.int({ description: 'Maximum number of commits.' }), offset: offsetArg(t) },
      resolve: ({ commits }, { limit, offset }) => {
        const from = offset ?? 0
        return commits.slice(from, from + (limit ?? verifiedPages.defaultSize))
      },
    }),
  }),
})

builder.prismaObjectField(AssetType, 'verification', (t) =>
  t.field({
    // The cost is high, because a verification requests every block of the history from the chain.
    ...wholeDocument(1_000, 500),
    type: VerificationType,
    nullable: true,
    description:
      'Verifies the history on the chain during the request. If the node or the file store does not respond, the verdict is UNSETTLED. ' +
      'Raises CONFLICT while there is no registry, VALIDATION_FAILED for histories of more than 1,000 commits, UNAVAILABLE if too many ' +
      'verifications are in progress.',
    resolve: ({ nid }, _args, context) => verifyHistory(context, nid),
  }),
)
