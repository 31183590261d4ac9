/** What a transfer is about, as its reference tells. */
import { type IdPrefix, idPrefix, toId, UUID } from '../../shared/ids.ts'

/** Why money moved. */
export type TransferKind =
  | 'COMMIT'
  | 'DEPOSIT'
  | 'DEPOSIT_COLLECTION'
  | 'DEPOSIT_FREEZE'
  | 'DEPOSIT_RELEASE'
  | 'GRANT'
  | 'ORDER'
  | 'ORDER_REFUND'
  | 'OTHER'
  | 'REFUND'
  | 'SIGN_UP'
  | 'WITHDRAWAL'
  | 'WITHDRAWAL_REFUND'

/** By the first word of a reference. */
const kinds: Record<string, { kind: TransferKind; subject?: IdPrefix }> = {
  'sign-up': { kind: 'SIGN_UP', subject: 'user' },
  commit: { kind: 'COMMIT', subject: 'commit' },
  refund: { kind: 'REFUND', subject: 'commit' },
  order: { kind: 'ORDER', subject: 'order' },
  'order-refund': { kind: 'ORDER_REFUND', subject: 'order' },
  deposit: { kind: 'DEPOSIT' },
  'deposit-freeze': { kind: 'DEPOSIT_FREEZE' },
  'deposit-release': { kind: 'DEPOSIT_RELEASE' },
  'deposit-collection': { kind: 'DEPOSIT_COLLECTION' },
  grant: { kind: 'GRANT', subject: 'grant' },
  withdrawal: { kind: 'WITHDRAWAL', subject: 'withdrawal' },
  'withdrawal-refund': { kind: 'WITHDRAWAL_REFUND', subject: 'withdrawal' },
}

/** First words of the references of all kinds but OTHER. */
export const knownReferences = Object.keys(kinds)

/** First words of the references whose kind contains all of these words, in any case. `isOther`: the kind OTHER contains them. */
export function referencesWith(words: readonly string[]): { references: string[]; isOther: boolean } {
  const matches = (kind: TransferKind) => words.every((word) => kind.includes(word.toUpperCase()))
  return { references: knownReferences.filter((word) => matches(kinds[word]!.kind)), isOther: matches('OTHER') }
}

/**
 * Returns a reference with public IDs: `commit:<UUID>` becomes `commit_…`, and `order-refund:<UUID>` becomes `order-refund:order_…`. Returns
 * other text unchanged.
 */
export function publicReference(text: string): string {
  const [name = '', id = '', ...rest] = text.split(':')
  const prefix = idPrefix(name) ?? kinds[name]?.subject
  if (!prefix || !UUID.test(id)) return text
  const publicId = toId(prefix, id)
  return [...(prefix === name ? [] : [name]), publicId, ...rest].join(':')
}

/**
 * Returns the kind and the subject of a transfer from its reference. `subjectId` is the public ID of the commit, order, grant, withdrawal or user, or
 * the transaction hash of a deposit. It is null for transfers of the kind OTHER.
 */
export function describeReference(reference: string): { kind: TransferKind; subjectId: string | null } {
  const [first = '', subject = ''] = reference.split(':', 2)
  const known = kinds[first]
  return {
    kind: known?.kind ?? 'OTHER',
    subjectId: known ? (known.subject ? toId(known.subject, subject) : subject) : null,
  }
}
