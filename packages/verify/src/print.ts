/** Formats a verification for a terminal. */

import { plain } from './source-error.ts'
import type { Finding, Verdict, Verification, VerifiedCommit } from './verification.ts'

/** Exit code of the process, by verdict. */
export const exitCodes: Record<Verdict, number> = { holds: 0, broken: 1, unknown: 1, unsettled: 3 }

/** Formats a verification as lines, and the verdict as a sentence. */
export function describe(verification: Verification): { lines: string[]; verdict: string } {
  const { commits, file, complete, settled, recorder, recorders, foreign, foreignRecorders, asOf } = verification
  const lines = [
    `asset     ${verification.nid}`,
    `registry  ${verification.registry} on chain ${verification.chainId ?? 'unknown'}`,
    `as of     ${asOf ? `block ${asOf.number}, ${asOf.time}` : 'unknown'}`,
    ...recorders.map((address) => `recorder  ${address}`),
    '',
    ...table([['life', 'block', 'written', 'action', 'changed', 'checks'], ...commits.map(rowOf)]),
    '',
    `file      ${file ? formatFinding(file) : 'not checked; use --file'}`,
    `complete  ${formatFinding(complete)}`,
    `settled   ${formatFinding(settled)}`,
  ]
  if (recorder.result !== 'right') lines.push(`recorder  ${formatFinding(recorder)}`)
  if (foreign) lines.push(`foreign   ${foreign} commits of other accounts are ignored: ${foreignRecorders.join(', ')}`)
  // Escape the output, because trees, commit texts and node responses are untrusted.
  return { lines: lines.map(plain), verdict: plain(sentenceOf(verification)) }
}

const formatFinding = ({ result, finding }: Finding) => (finding ? `${result}: ${finding}` : result)

function rowOf({ life, blockNumber, blockTime, commitData, changes, checks }: VerifiedCommit): string[] {
  const findings = checks
    .filter(({ result }) => result !== 'right')
    .map((check) => `${check.name} ${formatFinding(check)}`)
  const changed =
    Object.keys(changes ?? {})
      .map(nameOf)
      .join(' ') || '-'
  const action = commitData?.actionName ?? '-'
  return [String(life), String(blockNumber), blockTime, action, changed, findings.join(' ') || 'right']
}

/** Returns the field name, in quotation marks if it contains spaces or quotation marks. */
const nameOf = (field: string) => (/^[^\s"]+$/.test(field) ? field : JSON.stringify(field))

/** Shown if the first commit is invalid. An untrusted account may have written it, so it says nothing about the asset's history. */
const whoseCommits =
  'Several accounts wrote commits of this asset, and the first one is invalid. Name the accounts whose commits count (--recorder).'

function sentenceOf(verification: Verification): string {
  const { verdict, nid, commits, file, complete, settled, recorder, foreign } = verification
  const life = commits.at(-1)?.life
  const lives =
    life && life > 1
      ? ` The file was registered ${life} times. Only the newest registration and its commits count.`
      : ''
  const counted = commits.filter((commit) => commit.life === life)
  const count = counted.length
  const found = [file, ...counted.flatMap(({ checks }) => checks)]
  if (verdict === 'unsettled' && found.some((finding) => finding?.result === 'wrong')) {
    return foreign ? whoseCommits : (recorder.finding ?? whoseCommits)
  }
  const open = [complete, settled, file, recorder, ...counted.flatMap(({ checks }) => checks)].find(
    (finding) => finding?.result === 'unknown',
  )
  const sentences: Record<Verdict, string> = {
    holds: `${count} commits are valid: chain, trees, hashes, signatures, order and times agree, and no commit is missing.${lives}`,
    broken: 'The history is invalid.',
    unsettled: `No check of ${count} commits failed, but some evidence is missing. ${open?.finding ?? ''}${lives}`,
    unknown: `The chain has no commit of ${nid} that counts. This proves nothing about the file.`,
  }
  return sentences[verdict]
}

/** Formats rows as columns that are as wide as their widest cell. The last column is not padded. */
function table(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => rows.reduce((width, row) => Math.max(width, row[column]!.length), 0))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
