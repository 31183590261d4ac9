import type {
  Check,
  Finding,
  Verdict,
  Verification,
  VerifiedCommit,
} from '../../../packages/verify/src/verification.ts'
import { builder } from '../../graphql/builder.ts'
import { atMost, characters, pageOf, wholeDocument } from '../../graphql/limits/sizes.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { inputLengths } from '../assets/asset-input.ts'
import { AssetType } from '../assets/assets.graphql.ts'
import { verifyHistory } from './verify-history.ts'

const FINDING_CHARACTERS = 1_000
/** Looks at one commit. */
const MOST_CHECKS = 12
const verifiedPages = pageOf(50)
/** A verification requests every block of the history from the chain. */
const verificationSize = wholeDocument(1_000, 500)

const resultValues = {
  RIGHT: { value: 'right', description: 'The check passed.' },
  WRONG: { value: 'wrong', description: 'The evidence contradicts itself.' },
  UNKNOWN: { value: 'unknown', description: 'Evidence is missing or unreadable.' },
} as const
const FindingResult = builder.enumType('FindingResult', { description: 'Result of a check.', values: resultValues })

const verdictValues = {
  HOLDS: { value: 'holds', description: 'Everything was checked and is right.' },
  BROKEN: { value: 'broken', description: 'The evidence contradicts itself.' },
  UNSETTLED: { value: 'unsettled', description: 'Nothing contradicts, but some evidence is missing or unreadable.' },
  UNKNOWN: { value: 'unknown', description: 'The chain holds no commit of the asset that counts.' },
} as const satisfies Record<string, { value: Verdict; description: string }>
const VerdictType = builder.enumType('Verdict', { description: 'Verdict on a history.', values: verdictValues })

/** Fields of every check. */
const findingFields = (t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Finding>) => ({
  result: t.expose('result', { type: FindingResult, description: 'Result of the check.' }),
  finding: t.string({
    ...characters(FINDING_CHARACTERS),
    nullable: true,
    description: 'The reason, as a sentence. Null when the result is RIGHT.',
    resolve: ({ finding }) => finding?.slice(0, FINDING_CHARACTERS),
  }),
})

const FindingType = builder.objectRef<Finding>('Finding').implement({
  description: 'Result of one check, with its reason.',
  fields: findingFields,
})

const CheckType = builder.objectRef<Check>('Check').implement({
  description: 'One look at a commit.',
  fields: (t) => ({
    name: t.exposeString('name', {
      ...characters(16),
      description:
        'What was looked at: `event`, `transaction`, `layout`, `tree`, `sha256`, `asset`, `signature`, `author`, `order`, `time` or `record`.',
    }),
    ...findingFields(t),
  }),
})

const VerifiedCommitType = builder.objectRef<VerifiedCommit>('VerifiedCommit').implement({
  description: 'A commit as the chain has it.',
  fields: (t) => ({
    life: t.exposeInt('life', {
      description: 'Which registration of the file it belongs to, from 1: one that was deleted can be registered anew.',
    }),
    blockNumber: t.exposeInt('blockNumber', { description: 'Its block.' }),
    blockTime: t.field({
      type: 'DateTime',
      description: 'Time of the block: by then it had been written.',
      resolve: ({ blockTime }) => new Date(blockTime),
    }),
    transactionHash: t.exposeString('transactionHash', {
      ...characters(66),
      nullable: true,
      description: 'Its transaction; null when that could not be read.',
    }),
    recorder: t.exposeString('recorder', {
      ...characters(42),
      nullable: true,
      description: 'Account that wrote it onto the chain.',
    }),
    treeCid: t.string({
      ...characters(255),
      nullable: true,
      description: 'Where its asset tree is stored, as the chain says.',
      resolve: ({ commitData }) => commitData?.assetTreeCid.slice(0, 255),
    }),
    message: t.string({
      ...characters(inputLengths.commitMessage),
      nullable: true,
      description: 'What the author said about it, as the chain says.',
      resolve: ({ commitData }) => commitData?.abstract.slice(0, inputLengths.commitMessage),
    }),
    checks: t.expose('checks', {
      ...atMost(MOST_CHECKS),
      type: [CheckType],
      description: 'Everything that was looked at.',
    }),
  }),
})

const VerificationType = builder.objectRef<Verification>('Verification').implement({
  description:
    'Result of verifying a history against the chain and the file network. `annal-verify` finds the same without this service.',
  fields: (t) => ({
    verdict: t.expose('verdict', { type: VerdictType, description: 'The verdict.' }),
    registry: t.expose('registry', {
      type: 'Address',
      description: 'The registry that was asked.',
    }),
    chainId: t.float({
      nullable: true,
      description:
        'ID of the chain: a whole number, which may need more than 32 bits. Null when the node did not give it.',
      resolve: ({ chainId }) => chainId,
    }),
    asOfBlock: t.int({
      nullable: true,
      description: 'Number of the newest block. Null when the node did not give it.',
      resolve: ({ asOf }) => asOf?.number,
    }),
    asOfTime: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the newest block. Null when the node did not give it.',
      resolve: ({ asOf }) => asOf && new Date(asOf.time),
    }),
    complete: t.expose('complete', {
      type: FindingType,
      description:
        'Whether no commit is left out. UNKNOWN with the reason when the list of commits, or a block, could not be read.',
    }),
    settled: t.expose('settled', {
      type: FindingType,
      description: 'Whether the blocks are those of the chain.',
    }),
    file: t.expose('file', {
      type: FindingType,
      nullable: true,
      description: 'Whether the file is the one that the trees describe.',
    }),
    record: t.expose('record', {
      type: FindingType,
      nullable: true,
      description: 'Whether every commit that the database calls written is on the chain.',
    }),
    foreign: t.exposeInt('foreign', {
      description: 'How many commits others wrote about the asset; they count for nothing.',
    }),
    commitCount: t.int({ description: 'How many commits the chain has.', resolve: ({ commits }) => commits.length }),
    commits: t.field({
      ...verifiedPages,
      type: [VerifiedCommitType],
      description: 'The commits by position, oldest first.',
      args: { limit: t.arg.int({ description: 'At most so many commits.' }), offset: offsetArg(t) },
      resolve: ({ commits }, { limit, offset }) => {
        const from = offset ?? 0
        return commits.slice(from, from + (limit ?? verifiedPages.defaultSize))
      },
    }),
  }),
})

builder.prismaObjectField(AssetType, 'verification', (t) =>
  t.field({
    ...verificationSize,
    type: VerificationType,
    nullable: true,
    description:
      'Verifies the history on the chain during the request. When the node or the file store gives no usable answer, the verdict is UNSETTLED. ' +
      'Raises CONFLICT while there is no registry, VALIDATION_FAILED for histories of more than 1,000 commits, UNAVAILABLE when too many ' +
      'verifications are in progress.',
    resolve: ({ nid }, _args, context) => verifyHistory(context, nid),
  }),
)
